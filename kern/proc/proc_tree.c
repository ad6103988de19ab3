/* Parents and children: copying a process, and ending one. */
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/control/control.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/sched.h"
#include "lib/string.h"

/* Stack that a child gets below the part in use. */
#define STACK_SPARE (256UL << 10)

/* proc_end_others() waits here for processes to be freed. */
static struct waitq freed;

static void
copy_files(struct proc *to, const struct proc *from)
{
	for (unsigned fd = 0; fd < NFD; fd++) {
		if ((to->p_fd[fd] = from->p_fd[fd]) != NULL)
			to->p_fd[fd]->f_refs++;
	}
	to->p_cloexec = from->p_cloexec;
	if ((to->p_cwd = from->p_cwd) != NULL)
		to->p_cwd->f_refs++;
}

/*
 * Share the memory, or copy it, but little of the unused stack: all of it is
 * populated, few need it.
 */
static int
give_memory(struct proc *to, const struct proc *from, uintptr_t sp, bool shares)
{
	uintptr_t bottom = REGION_TOP - from->p_stack_bytes;
	uintptr_t low = (sp - STACK_SPARE) & -PAGE_SIZE;

	to->p_stack_bytes = from->p_stack_bytes;
	to->p_vdso = from->p_vdso;
	to->p_sigreturn = from->p_sigreturn;
	to->p_vforked = shares;
	to->p_as = shares ? as_hold(from->p_as) : as_new(from->p_system);
	if (shares || to->p_as == NULL)
		return shares ? 0 : ENOMEM;
	if (sp < bottom + STACK_SPARE + PAGE_SIZE || sp >= REGION_TOP)
		return as_copy(to->p_as, from->p_as, 0, 0);
	to->p_stack_bytes = REGION_TOP - low;
	return as_copy(to->p_as, from->p_as, bottom, low - bottom);
}

int
proc_copy(uintptr_t sp, bool shares, struct proc **copy)
{
	struct proc *self = proc_self(), *p = kmalloc(sizeof *p);

	if (p == NULL)
		return ENOMEM;
	strlcpy(p->p_name, self->p_name, sizeof p->p_name);
	p->p_system = self->p_system;
	p->p_cpc_cpu = self->p_cpc_cpu;
	p->p_stop = self->p_stop;
	strlcpy(p->p_args, self->p_args, sizeof p->p_args);
	p->p_elf = self->p_elf;
	p->p_program = self->p_program;
	p->p_umask = self->p_umask;
	memcpy(p->p_limit, self->p_limit, sizeof p->p_limit);
	p->p_random = self->p_random;
	p->p_membarriers = self->p_membarriers;
	if (give_memory(p, self, sp, shares) != 0)
		goto free_as;
	copy_files(p, self);
	p->p_pid = pid_alloc();
	p->p_pgid = self->p_pgid;
	p->p_sid = self->p_sid;
	p->p_parent = self;
	p->p_sibling = self->p_children;
	self->p_children = p;
	p->p_next = allprocs;
	allprocs = p;
	proc_hash_insert(p);
	*copy = p;
	return 0;

free_as:
	if (p->p_as != NULL)
		as_release(p->p_as);
	kfree(p);
	return ENOMEM;
}

static void
unlink_child(struct proc *child)
{
	struct proc **link = &child->p_parent->p_children;

	while (*link != child)
		link = &(*link)->p_sibling;
	*link = child->p_sibling;
	child->p_parent = NULL;
}

void
proc_reap(struct proc *child)
{
	if (child->p_parent != NULL)
		unlink_child(child);
	proc_free(child);
	waitq_wake(&freed, 1);
}

/* Make p's children orphans, and free those that have ended. */
static void
leave_children(struct proc *p)
{
	struct proc *child;

	while ((child = p->p_children) != NULL) {
		unlink_child(child);
		child->p_orphan = true;
		if (child->p_done)
			proc_reap(child);
	}
}

void
proc_release_parent(struct proc *p)
{
	struct lwp *l = p->p_vforker;

	if (l == NULL)
		return;
	p->p_vforker = NULL;
	l->l_vforking = false;
	waitq_wake(&l->l_proc->p_child_wait, ~0U);
}

void
proc_tell_parent(struct proc *p, int code, int status)
{
	struct proc *parent = p->p_parent;
	bool ended = code == CLD_EXITED || code == CLD_KILLED;
	const struct siginfo info = { .si_signo = SIGCHLD,
		.si_code = code,
		.si_pid = p->p_pid,
		.si_status = status };
	const struct sigaction *act;

	if (parent == NULL)
		return;
	act = &parent->p_sig[SIGCHLD];
	if (ended && (act->sa_handler == SIG_IGN ||
			 (act->sa_flags & SA_NOCLDWAIT) != 0)) {
		unlink_child(p);
		p->p_orphan = true;
	}
	if (ended || (act->sa_flags & SA_NOCLDSTOP) == 0)
		sig_post_proc(parent, SIGCHLD, &info);
	waitq_wake(&parent->p_child_wait, ~0U);
}

void
proc_ended(struct proc *p)
{
	timer_stop(&p->p_timeout);
	timer_stop(&p->p_alarm);
	file_close_all(p);
	leave_children(p);
	proc_release_parent(p);
	p->p_done = true;
	control_proc_ended(p);
	if (p->p_status >= KILLED(0))
		proc_tell_parent(p, CLD_KILLED, p->p_status & 0x7f);
	else
		proc_tell_parent(p, CLD_EXITED, p->p_status & 0xff);
	waitq_wake(&p->p_wait, 1);
}

void
proc_gone(struct proc *p)
{
	as_release(p->p_as);
	if (p->p_orphan)
		proc_reap(p);
}

int
proc_alone(void)
{
	struct lwp *l = lwp_self();
	struct proc *p = l->l_proc;

	if (p->p_execer != NULL)
		return EINTR; /* another LWP came first; this one exits */
	p->p_execer = l;
	for (struct lwp *o = p->p_lwps; o != NULL; o = o->l_sibling) {
		if (o != l)
			sig_notify(o, AST_EXIT);
	}
	while (p->p_nlwp > 1 && !p->p_exiting)
		waitq_wait(&p->p_alone);
	p->p_execer = NULL;
	return p->p_exiting ? EINTR : 0;
}

/* Did fork(2) make p?  A process of proc_create() never had a parent. */
static bool
is_forked(const struct proc *p)
{
	return p->p_parent != NULL || p->p_orphan;
}

static bool
any_forked(void)
{
	const struct proc *p = allprocs;

	while (p != NULL && !is_forked(p))
		p = p->p_next;
	return p != NULL;
}

void
proc_end_others(void)
{
	for (struct proc *p = allprocs; p != NULL; p = p->p_next) {
		if (is_forked(p))
			proc_kill(p, KILLED(SIGKILL));
	}
	while (any_forked())
		waitq_wait(&freed);
	proc_account_end();
}
