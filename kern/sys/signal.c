/* Linux's system calls on signals. */
#include "kern/proc/signal.h"
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/deadline.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sys/syscall.h"

#define SIGSET_BYTES 8

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

intptr_t
sys_rt_sigaction(const uintptr_t *a)
{
	struct proc *p = proc_self();
	struct sigaction act, old;

	if (a[3] != SIGSET_BYTES || a[0] < 1 || a[0] > NSIG)
		return -EINVAL;
	if (a[1] != 0 && (a[0] == SIGKILL || a[0] == SIGSTOP))
		return -EINVAL;
	if (a[1] != 0 && copyin(&act, a[1], sizeof act) != 0)
		return -EFAULT;
	old = p->p_sig[a[0]];
	if (a[2] != 0 && copyout(a[2], &old, sizeof old) != 0)
		return -EFAULT;
	if (a[1] != 0) {
		act.sa_mask &= ~UNBLOCKABLE;
		if ((act.sa_flags & SA_HAS_RESTORER) == 0)
			act.sa_restorer = p->p_sigreturn;
		sig_set_action(p, (int)a[0], &act);
	}
	return 0;
}

intptr_t
sys_rt_sigprocmask(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	uint64_t set, old = l->l_kept.sk_mask;

	if (a[3] != SIGSET_BYTES)
		return -EINVAL;
	if (a[1] != 0) {
		if (copyin(&set, a[1], sizeof set) != 0)
			return -EFAULT;
		if (a[0] == SIG_BLOCK)
			set = old | set;
		else if (a[0] == SIG_UNBLOCK)
			set = old & ~set;
		else if (a[0] != SIG_SETMASK)
			return -EINVAL;
		sig_set_mask(l, set);
	}
	return a[2] != 0 ? -copyout(a[2], &old, sizeof old) : 0;
}

intptr_t
sys_rt_sigpending(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	uint64_t set = sig_pending(l) & l->l_kept.sk_mask;

	if (a[1] != SIGSET_BYTES)
		return -EINVAL;
	return -copyout(a[0], &set, sizeof set);
}

/* Sleep until there is a signal to deliver. */
static intptr_t
wait_for_signal(struct lwp *l)
{
	struct waitq wq = { 0 };

	while (!sig_check(l))
		waitq_sleep(&wq, ~0ULL);
	return -EINTR;
}

intptr_t
sys_rt_sigsuspend(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	uint64_t mask;

	if (a[1] != SIGSET_BYTES)
		return -EINVAL;
	if (copyin(&mask, a[0], sizeof mask) != 0)
		return -EFAULT;
	sig_suspend_mask(l, mask);
	return wait_for_signal(l);
}

intptr_t
sys_pause(const uintptr_t *)
{
	return wait_for_signal(lwp_self());
}

/* Wait for a signal of the set.  Returns 0 when taken, EAGAIN or EINTR. */
static int
wait_for_set(
    struct lwp *l, uint64_t set, uint64_t deadline, struct siginfo *info)
{
	struct waitq wq = { 0 };
	int err = 0;

	while (sig_take(l, set, info) == 0) {
		if (sig_check(l))
			return EINTR;
		if (err == ETIMEDOUT || arch_tick() >= deadline)
			return EAGAIN;
		l->l_sigwait = set;
		err = waitq_sleep(&wq, deadline);
		l->l_sigwait = 0;
	}
	return 0;
}

intptr_t
sys_rt_sigtimedwait(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	struct siginfo info;
	uint64_t set, deadline;
	int err;

	if (a[3] != SIGSET_BYTES)
		return -EINVAL;
	if (copyin(&set, a[0], sizeof set) != 0)
		return -EFAULT;
	if ((err = deadline_in(a[2], false, &deadline)) != 0)
		return -err;
	err = wait_for_set(l, set & ~UNBLOCKABLE, deadline, &info);
	/* A signal may have come that only other LWPs wait for now. */
	sig_set_mask(l, l->l_kept.sk_mask);
	if (err != 0)
		return -err;
	if (a[1] != 0 &&
	    (copyout(a[1], &info, sizeof info) != 0 ||
		copyzero(a[1] + sizeof info, SIGINFO_BYTES - sizeof info) != 0))
		return -EFAULT;
	return info.si_signo;
}

/* Linux's stack_t, the same on both machines. */
struct user_stack {
	uint64_t sp;
	int32_t flags, pad;
	uint64_t bytes;
};

static int
set_altstack(struct lwp *l, const struct user_stack *ss)
{
	if (sig_on_altstack(l, tf_sp(l->l_tf)))
		return EPERM;
	if (ss->flags == SS_DISABLE) {
		l->l_kept.sk_stack =
		    (struct sigstack){ .ss_flags = SS_DISABLE };
		return 0;
	}
	if (ss->flags != 0 && ss->flags != SS_ONSTACK)
		return EINVAL;
	if (ss->bytes < arch_hwcap(2))
		return ENOMEM;
	l->l_kept.sk_stack = (struct sigstack){ ss->sp, 0, ss->bytes };
	return 0;
}

intptr_t
sys_sigaltstack(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	const struct sigstack *s = &l->l_kept.sk_stack;
	struct user_stack ss,
	    old = { s->ss_sp, (int32_t)s->ss_flags, 0, s->ss_bytes };
	int err;

	if (sig_on_altstack(l, tf_sp(l->l_tf)))
		old.flags |= SS_ONSTACK;
	if (a[0] != 0) {
		if (copyin(&ss, a[0], sizeof ss) != 0)
			return -EFAULT;
		if ((err = set_altstack(l, &ss)) != 0)
			return -err;
	}
	return a[1] != 0 ? -copyout(a[1], &old, sizeof old) : 0;
}

/* After a handler returns, its frame is at the stack pointer. */
intptr_t
sys_rt_sigreturn(const uintptr_t *)
{
	struct lwp *l = lwp_self();
	const struct sigstack *now = &l->l_kept.sk_stack, *then;
	struct siginfo segv;
	struct sigkept kept;

	if (arch_sigframe_pop(l->l_tf, &kept) != 0) {
		siginfo_set(&segv, SIGSEGV, SI_KERNEL, 0);
		sig_run_or_die(
		    l, l->l_tf, &segv, "sigreturn to a damaged frame");
		return -EJUSTRETURN;
	}
	sig_set_mask(l, kept.sk_mask);
	then = &kept.sk_stack;
	/* Nearly always there is no alternate stack, before or now. */
	if ((then->ss_flags & now->ss_flags & SS_DISABLE) == 0 &&
	    ((then->ss_sp ^ now->ss_sp) | (then->ss_bytes ^ now->ss_bytes) |
		((then->ss_flags ^ now->ss_flags) & SS_DISABLE)) != 0)
		/* As on Linux, one that cannot be restored is ignored. */
		set_altstack(l, &(struct user_stack){ then->ss_sp,
				    (int32_t)then->ss_flags & SS_DISABLE, 0,
				    then->ss_bytes });
	return -EJUSTRETURN;
}

/* Sending */

static struct siginfo
sent_by_self(uintptr_t sig, int code)
{
	return (struct siginfo){
		.si_signo = (int)sig,
		.si_code = code,
		.si_pid = proc_self()->p_pid,
	};
}

/* Signal 0 only checks that the process exists. */
static int
post_proc(struct proc *p, uintptr_t sig)
{
	struct siginfo info = sent_by_self(sig, SI_USER);

	return sig != 0 ? sig_post_proc(p, (int)sig, &info) : 0;
}

/*
 * Does kill(2) mean p by a number that is not positive: 0 is the caller's
 * group, -1 all but the caller, another one a group?
 */
static bool
is_addressed(const struct proc *p, int pid)
{
	const struct proc *self = proc_self();

	if (pid == -1)
		return p != self;
	return pid == 0 ? p->p_pgid == self->p_pgid
	                : (unsigned)p->p_pgid == -(unsigned)pid;
}

intptr_t
sys_kill(const uintptr_t *a)
{
	int pid = (int)a[0];
	struct proc *p;
	unsigned n = 0;

	if (a[1] > NSIG)
		return -EINVAL;
	if (pid > 0) {
		if ((p = proc_find_any(pid)) == NULL)
			return -ESRCH;
		return -post_proc(p, a[1]);
	}
	for (p = allprocs; p != NULL; p = p->p_next) {
		if (!is_addressed(p, pid))
			continue;
		post_proc(p, a[1]);
		n++;
	}
	return n > 0 ? 0 : -ESRCH;
}

static intptr_t
post_lwp(int pid, int tid, const struct siginfo *info)
{
	struct lwp *l = lwp_find(tid);

	if (l == NULL || (pid != 0 && l->l_proc->p_pid != pid))
		return -ESRCH;
	if (info->si_signo == 0)
		return 0;
	return -sig_post_lwp(l, info->si_signo, info);
}

intptr_t
sys_tkill(const uintptr_t *a)
{
	const struct siginfo info = sent_by_self(a[1], SI_TKILL);

	if ((int)a[0] <= 0 || a[1] > NSIG)
		return -EINVAL;
	return post_lwp(0, (int)a[0], &info);
}

intptr_t
sys_tgkill(const uintptr_t *a)
{
	const struct siginfo info = sent_by_self(a[2], SI_TKILL);

	if ((int)a[0] <= 0 || (int)a[1] <= 0 || a[2] > NSIG)
		return -EINVAL;
	return post_lwp((int)a[0], (int)a[1], &info);
}

/*
 * Copy in the sender's siginfo.  To others than the LWP `to` itself it must not
 * look like the kernel's.
 */
static int
siginfo_in(struct siginfo *info, uintptr_t uva, uintptr_t sig, int to)
{
	if (sig > NSIG)
		return EINVAL;
	if (copyin(info, uva, sizeof *info) != 0)
		return EFAULT;
	if ((info->si_code >= 0 || info->si_code == SI_TKILL) &&
	    to != lwp_self()->l_tid)
		return EPERM;
	info->si_signo = (int)sig;
	return 0;
}

intptr_t
sys_rt_sigqueueinfo(const uintptr_t *a)
{
	struct proc *p = proc_find_any((int)a[0]);
	struct siginfo info;
	int err;

	if ((err = siginfo_in(&info, a[2], a[1], (int)a[0])) != 0)
		return -err;
	if (p == NULL || a[1] == 0)
		return p == NULL ? -ESRCH : 0;
	return -sig_post_proc(p, (int)a[1], &info);
}

intptr_t
sys_rt_tgsigqueueinfo(const uintptr_t *a)
{
	struct siginfo info;
	int err;

	if ((int)a[0] <= 0 || (int)a[1] <= 0)
		return -EINVAL;
	if ((err = siginfo_in(&info, a[3], a[2], (int)a[1])) != 0)
		return -err;
	return post_lwp((int)a[0], (int)a[1], &info);
}
