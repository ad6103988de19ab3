/* Creates, binds and ends LWPs. */
#include "kern/proc/lwp.h"

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/proc/futex/futex.h"
#include "kern/proc/proc.h"
#include "kern/sched/counting.h"
#include "kern/sched/sched.h"
#include "lib/printf.h"
#include "lib/string.h"

unsigned nlwp;

/* The first code of every LWP except the idle ones. */
static void
lwp_first(void *arg)
{
	struct lwp *l = arg;

	sched_arrive();
	l->l_fn(l->l_arg);
}

static void
add_to_proc(struct proc *p, struct lwp *l)
{
	l->l_id = ++p->p_next_id;
	lwp_hash_insert(
	    l, p->p_lwps == NULL && p->p_next_id == 1 ? p->p_pid : pid_alloc());
	l->l_system = p->p_system;
	l->l_sibling = p->p_lwps;
	l->l_link = &p->p_lwps;
	if (l->l_sibling != NULL)
		l->l_sibling->l_link = &l->l_sibling;
	p->p_lwps = l;
	p->p_nlwp++;
	nlwp++;
}

static void
remove_from_proc(struct lwp *l)
{
	*l->l_link = l->l_sibling;
	if (l->l_sibling != NULL)
		l->l_sibling->l_link = l->l_link;
	l->l_proc->p_nlwp--;
	nlwp--;
	lwp_hash_remove(l);
}

void
lwp_set_name(struct lwp *l, const char *path)
{
	const char *slash = strrchr(path, '/');

	strlcpy(l->l_name, slash != NULL ? slash + 1 : path, sizeof l->l_name);
}

struct lwp *
lwp_create(struct proc *p, void (*fn)(void *), void *arg)
{
	struct lwp *l = kmalloc(sizeof *l);

	if (l == NULL)
		return NULL;
	if ((l->l_kstack = kstack_alloc()) == NULL)
		goto free_lwp;
	l->l_kstack_top = l->l_kstack + KSTACK_BYTES;
	l->l_proc = p;
	l->l_cpu = arch_curcpu();
	memset(&l->l_affinity, 0xff, sizeof l->l_affinity);
	l->l_wanted = l->l_affinity;
	l->l_bound = -1;
	l->l_tf = arch_lwp_frame(l);
	l->l_fn = fn;
	l->l_arg = arg;
	l->l_kept.sk_stack.ss_flags = SS_DISABLE;
	if (arch_lwp_init(l, lwp_first, l) != 0)
		goto free_stack;
	if (p != NULL)
		add_to_proc(p, l);
	return l;

free_stack:
	kstack_free(l->l_kstack);
free_lwp:
	kfree(l);
	return NULL;
}

static void
free_memory(struct lwp *l)
{
	arch_lwp_free(l);
	kstack_free(l->l_kstack);
	kfree(l);
}

void
lwp_free(struct lwp *l)
{
	if (l->l_proc != NULL)
		remove_from_proc(l);
	free_memory(l);
}

void
lwp_gone(struct lwp *l)
{
	struct proc *p = l->l_proc;

	free_memory(l);
	if (p->p_nlwp == 0)
		proc_gone(p);
}

static bool
set_affinity(
    struct lwp *l, const struct cpuset *wanted, const struct cpuset *only)
{
	struct cpuset may = *wanted;

	for (unsigned i = 0; i < CPUSET_WORDS && only != NULL; i++)
		may.cs_word[i] &= only->cs_word[i];
	if (!cpuset_meets(&may, sched_cpus()))
		return false;
	l->l_wanted = *wanted;
	l->l_only = only;
	l->l_affinity = may;
	sched_move(l);
	return true;
}

bool
lwp_set_affinity(struct lwp *l, const struct cpuset *wanted)
{
	return set_affinity(l, wanted, l->l_only);
}

bool
lwp_run_only(struct lwp *l, const struct cpuset *only)
{
	struct cpuset wanted = l->l_wanted;

	if (set_affinity(l, &wanted, only))
		return true;
	/* CPUs went offline: without a restriction it runs anywhere. */
	if (only == NULL) {
		l->l_only = NULL;
		l->l_affinity = l->l_wanted;
	}
	return false;
}

void
lwp_bind(struct lwp *l, struct cpu *c)
{
	if (l->l_bound >= 0)
		cpus[l->l_bound].c_nbound--;
	l->l_bound = c != NULL ? (int)c->c_id : -1;
	if (c != NULL)
		c->c_nbound++;
	sched_move(l);
}

void
lwp_exit(void)
{
	struct lwp *l = lwp_self();
	struct proc *p = l->l_proc;

	counting->lwp_exit(l);
	sig_lwp_exit(l);
	sig_flush(p, &l->l_sigpend);
	futex_lwp_exit(l);
	/* Wake joiners after the counters are gone, not before. */
	if (!p->p_exiting && l->l_clear_tid != 0)
		futex_clear(l->l_clear_tid);
	if (l->l_bound >= 0)
		cpus[l->l_bound].c_nbound--;
	p->p_ran += sched_ran(l);
	remove_from_proc(l);
	l->l_state = LWP_ZOMBIE;
	if (l->l_stop_for != NULL)
		waitq_wake(l->l_stop_for, ~0U);
	if (p->p_nlwp == 0)
		proc_ended(p);
	else if (p->p_nlwp == 1)
		waitq_wake(&p->p_alone, ~0U);
	sched_switch();
	panic("a zombie ran");
}
