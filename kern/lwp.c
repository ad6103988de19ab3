#include "kern/lwp.h"

#include "kern/arch.h"
#include "kern/cpu.h"
#include "kern/kcpc.h"
#include "kern/lock.h"
#include "kern/page.h"
#include "kern/proc.h"
#include "kern/signal.h"
#include "lib/printf.h"

unsigned nlwp;

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
	l->l_sigstack.ss_flags = SS_DISABLE;
	if (p != NULL) {
		l->l_id = ++p->p_next_id;
		l->l_system = p->p_system;
	}
	if (arch_lwp_init(l, fn, arg) != 0)
		goto free_stack;
	if (p != NULL) {
		l->l_sibling = p->p_lwps;
		p->p_lwps = l;
		p->p_nlwp++;
		__atomic_add_fetch(&nlwp, 1, __ATOMIC_RELAXED);
	}
	return l;

free_stack:
	kstack_free(l->l_kstack);
free_lwp:
	kfree(l);
	return NULL;
}

void
lwp_free(struct lwp *l)
{
	/* Its CPU may still be on the last instructions of its stack. */
	while (l->l_cpu->c_lwp == l)
		arch_relax();
	if (l->l_proc != NULL && l->l_state != LWP_ZOMBIE)
		__atomic_sub_fetch(&nlwp, 1, __ATOMIC_RELAXED);
	arch_lwp_free(l);
	kstack_free(l->l_kstack);
	kfree(l);
}

void
lwp_exit(void)
{
	struct lwp *l = lwp_self();
	struct proc *p = l->l_proc;

	kcpc_lwp_exit(l);
	l->l_state = LWP_ZOMBIE;
	__atomic_sub_fetch(&nlwp, 1, __ATOMIC_RELAXED);
	lock_acquire(&p->p_wait.wq_lock);
	if (--p->p_nlwp == 0) {
		timer_stop(&p->p_timeout);
		p->p_done = true;
		waitq_wake(&p->p_wait, 1);
	}
	lock_release(&p->p_wait.wq_lock);
	sched_switch();
	panic("a zombie ran");
}
