/*
 * System calls on signals: their state is kept as Linux keeps it.
 */
#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/fault.h"
#include "kern/lwp.h"
#include "kern/proc.h"
#include "kern/signal.h"
#include "kern/syscall.h"
#include "kern/usercopy.h"
#include "lib/printf.h"

#define SIGSET_BYTES 8
#define UNBLOCKABLE  (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

intptr_t
sys_rt_sigaction(const uintptr_t *a)
{
	struct sigaction act, *sig;

	if (a[3] != SIGSET_BYTES || a[0] < 1 || a[0] > NSIG)
		return -EINVAL;
	if (a[1] != 0 && (a[0] == SIGKILL || a[0] == SIGSTOP))
		return -EINVAL;
	if (a[1] != 0 && copyin(&act, a[1], sizeof act) != 0)
		return -EFAULT;
	sig = &proc_self()->p_sig[a[0]];
	if (a[2] != 0 && copyout(a[2], sig, sizeof *sig) != 0)
		return -EFAULT;
	if (a[1] != 0)
		*sig = act;
	return 0;
}

/* What was blocked arrives once it no longer is. */
static void
deliver_pending(struct lwp *l)
{
	for (int sig = 1; sig <= NSIG; sig++) {
		if (l->l_sigpending & ~l->l_sigmask & SIGBIT(sig)) {
			l->l_sigpending &= ~SIGBIT(sig);
			sig_send(l, sig, "sent by itself");
		}
	}
}

intptr_t
sys_rt_sigprocmask(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	uint64_t set, old = l->l_sigmask;

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
		l->l_sigmask = set & ~UNBLOCKABLE;
		deliver_pending(l);
	}
	return a[2] != 0 ? -copyout(a[2], &old, sizeof old) : 0;
}

intptr_t
sys_sigaltstack(const uintptr_t *a)
{
	/* stack_t, on both machines */
	struct {
		uint64_t sp;
		int32_t flags, pad;
		uint64_t bytes;
	} ss, old;
	struct sigstack *s = &lwp_self()->l_sigstack;

	if (a[0] != 0 && copyin(&ss, a[0], sizeof ss) != 0)
		return -EFAULT;
	if (a[1] != 0) {
		old.sp = s->ss_sp;
		old.flags = (int32_t)s->ss_flags;
		old.pad = 0;
		old.bytes = s->ss_bytes;
		if (copyout(a[1], &old, sizeof old) != 0)
			return -EFAULT;
	}
	if (a[0] == 0)
		return 0;
	if (ss.flags & ~SS_DISABLE)
		return -EINVAL;
	if (!(ss.flags & SS_DISABLE) && ss.bytes < arch_hwcap(2))
		return -ENOMEM;
	*s = (struct sigstack){ ss.sp, ss.bytes, (unsigned)ss.flags };
	return 0;
}

/* To itself, the only process there is; sig 0 asks whether it exists. */
static intptr_t
send_self(uintptr_t sig)
{
	if (sig > NSIG)
		return -EINVAL;
	if (sig != 0)
		sig_send(lwp_self(), (int)sig, "sent by itself");
	return 0;
}

intptr_t
sys_kill(const uintptr_t *a)
{
	int pid = (int)a[0], self = proc_self()->p_pid;

	if (pid != self && pid != 0 && pid != -1 && pid != -self)
		return -ESRCH;
	return send_self(a[1]);
}

static bool
is_own_lwp(int tid)
{
	return tid == proc_self()->p_pid + lwp_self()->l_id - 1;
}

intptr_t
sys_tkill(const uintptr_t *a)
{
	return is_own_lwp((int)a[0]) ? send_self(a[1]) : -ESRCH;
}

intptr_t
sys_tgkill(const uintptr_t *a)
{
	if ((int)a[0] != proc_self()->p_pid || !is_own_lwp((int)a[1]))
		return -ESRCH;
	return send_self(a[2]);
}
