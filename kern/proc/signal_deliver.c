/*
 * Delivers signals to the running LWP on its way to user code, by its trap
 * frame.  The functions, from the outermost to the innermost:
 *
 *     trap_return       does all work in l_ast before user code
 *     deliver_overflow  sends SIGEMT for counters that froze
 *     deliver_pending   delivers signals, ends calls and masks
 *     take_pending      delivers one pending signal after the other
 *     sig_run_or_die    handles a fault, or ends the process
 *     sig_run_handler   runs a handler, if there is one
 *     push_handler      makes the handler's frame, sets its mask
 */
#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/control/control.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/counting.h"
#include "kern/sched/klock.h"
#include "kern/sched/xcall.h"
#include "lib/printf.h"

static void
report_and_kill(
    struct lwp *l, const struct trapframe *tf, int sig, const char *why)
{
	struct proc *p = l->l_proc;
	char where[FAULT_WHERE_MAX], name[12];

	/* `yes | head`: the end of a pipe's writer is no failure. */
	if (sig != SIGPIPE) {
		fault_where(p, tf_pc(tf), where, sizeof where);
		printf("barecpc: %s: %s at pc %s: %s\n", p->p_name,
		    sig_name(sig, name), where, why);
	}
	proc_kill(p, KILLED(sig));
}

static bool
is_overflow(const struct siginfo *info)
{
	return info->si_signo == SIGEMT && info->si_code == EMT_CPCOVF;
}

/* The sender of a signal, for the report. */
static const char *
sender_text(
    const struct proc *p, const struct siginfo *info, char *buf, size_t len)
{
	if (is_overflow(info))
		return "a counter overflowed";
	if (info->si_code > 0)
		return "sent by the kernel";
	if (info->si_pid == p->p_pid || info->si_pid == 0)
		return "sent by itself";
	snprintf(buf, len, "sent by process %d", info->si_pid);
	return buf;
}

bool
sig_on_altstack(const struct lwp *l, uintptr_t sp)
{
	const struct sigstack *s = &l->l_kept.sk_stack;

	return (s->ss_flags & SS_DISABLE) == 0 &&
	       sp - s->ss_sp - 1 < s->ss_bytes;
}

/* Put the frame on the alternate stack, if the handler or sp is on it. */
static void
choose_stack(const struct lwp *l, uintptr_t sp, struct sigframe *sf,
    struct sigkept *kept)
{
	const struct sigstack *s = &l->l_kept.sk_stack;

	if (sig_on_altstack(l, sp)) {
		kept->sk_stack.ss_flags |= SS_ONSTACK;
		sf->sf_limit = s->ss_sp;
	} else if ((sf->sf_act->sa_flags & SA_ONSTACK) != 0) {
		sf->sf_stack = s->ss_sp + s->ss_bytes;
		sf->sf_limit = s->ss_sp;
	}
}

/*
 * End an interrupted system call: with EINTR, or so that it is made again.  In
 * the second case the address of an overflow in the call becomes the call's.
 */
static void
end_call(struct lwp *l, struct trapframe *tf, const struct sigaction *act,
    struct siginfo *info)
{
	bool here = is_overflow(info) && info->si_addr == tf_pc(tf);

	l->l_restart = false;
	if ((act->sa_flags & SA_RESTART) == 0) {
		tf_set_ret(tf, -EINTR);
		return;
	}
	tf_restart(tf);
	if (here)
		info->si_addr = tf_pc(tf);
}

static bool
has_handler(const struct lwp *l, int sig)
{
	return l->l_proc->p_sig[sig].sa_handler > SIG_IGN &&
	       (l->l_kept.sk_mask & SIGBIT(sig)) == 0;
}

/*
 * Slow path of push_handler(): an interrupted system call, a mask that
 * sigsuspend(2) replaced, or an alternate stack.
 */
static void
prepare_slow(struct lwp *l, struct trapframe *tf, struct sigframe *sf,
    struct siginfo *info, struct sigkept *kept)
{
	if (l->l_sigrestore) {
		l->l_sigrestore = false;
		l->l_kept.sk_mask = l->l_sigsaved;
	}
	if (l->l_restart)
		end_call(l, tf, sf->sf_act, info);
	if ((l->l_kept.sk_stack.ss_flags & SS_DISABLE) == 0) {
		*kept = l->l_kept;
		sf->sf_kept = kept;
		choose_stack(l, tf_sp(tf), sf, kept);
	}
}

static void no_frame_room(struct lwp *l, struct trapframe *tf, int sig);

static inline void
push_handler(struct lwp *l, struct trapframe *tf, int sig, struct siginfo *info)
{
	struct proc *p = l->l_proc;
	struct sigaction *act = &p->p_sig[sig];
	struct sigframe sf = { act, info, &l->l_kept, 0, USER_BASE };
	uint64_t blocked = l->l_kept.sk_mask | act->sa_mask;
	struct sigkept kept;

	if (l->l_sigrestore || l->l_restart ||
	    (l->l_kept.sk_stack.ss_flags & SS_DISABLE) == 0)
		prepare_slow(l, tf, &sf, info, &kept);
	if (arch_sigframe_push(tf, &sf) != 0) {
		no_frame_room(l, tf, sig);
		return;
	}
	l->l_kept.sk_mask = blocked | SIGBIT(sig);
	if ((act->sa_flags & (SA_NODEFER | SA_RESETHAND)) != 0) {
		if ((act->sa_flags & SA_NODEFER) != 0)
			l->l_kept.sk_mask = blocked;
		if ((act->sa_flags & SA_RESETHAND) != 0)
			act->sa_handler = SIG_DFL;
	}
	/* Signals of the process may now suit another LWP better. */
	if (p->p_sigpend.sp_set != 0)
		sig_set_mask(l, l->l_kept.sk_mask);
}

/* The frame did not fit: run SIGSEGV's handler, or end the process. */
static void
no_frame_room(struct lwp *l, struct trapframe *tf, int sig)
{
	struct siginfo segv;
	char why[64], name[12];

	siginfo_set(&segv, SIGSEGV, SI_KERNEL, 0);
	if (sig != SIGSEGV && has_handler(l, SIGSEGV)) {
		push_handler(l, tf, SIGSEGV, &segv);
		return;
	}
	snprintf(why, sizeof why, "no room on the stack for the frame of %s",
	    sig_name(sig, name));
	report_and_kill(l, tf, SIGSEGV, why);
}

/* Like push_handler(); a direct read of PICs that is interrupted restarts. */
static void
interrupt_user(struct lwp *l, struct trapframe *tf, struct siginfo *info)
{
	counting->page_interrupted(l);
	push_handler(l, tf, info->si_signo, info);
}

bool
sig_run_handler(struct lwp *l, struct trapframe *tf, struct siginfo *info)
{
	if (!has_handler(l, info->si_signo))
		return false;
	interrupt_user(l, tf, info);
	return true;
}

void
sig_run_or_die(
    struct lwp *l, struct trapframe *tf, struct siginfo *info, const char *why)
{
	if (!sig_run_handler(l, tf, info))
		report_and_kill(l, tf, info->si_signo, why);
}

/*
 * The counters froze: send SIGEMT with the LWP's pc.  A direct read notices
 * that they froze without our help.  A system call or a sigsuspend(2) mask
 * that no handler ends is left to deliver_pending().
 */
static inline void
deliver_overflow(struct lwp *l, struct trapframe *tf)
{
	struct siginfo info;

	if (counting->sigemt_take(l, tf)) {
		siginfo_set(&info, SIGEMT, EMT_CPCOVF, tf_pc(tf));
		if (has_handler(l, SIGEMT)) {
			push_handler(l, tf, SIGEMT, &info);
			return;
		}
		sig_post_lwp(l, SIGEMT, &info);
	}
	if (l->l_sigrestore || l->l_restart)
		l->l_ast |= AST_SIGNAL;
}

void
sig_overflow_asleep(struct lwp *l)
{
	const struct trapframe *tf = arch_lwp_frame(l);
	struct siginfo info;

	if (has_handler(l, SIGEMT) && counting->sigemt_due(l))
		return;
	l->l_ast &= ~AST_CPC;
	if (counting->sigemt_take(l, tf)) {
		siginfo_set(&info, SIGEMT, EMT_CPCOVF, tf_pc(tf));
		sig_post_lwp(l, SIGEMT, &info);
	}
}

/* Deliver the pending signals, the lowest number first. */
static void
take_pending(struct lwp *l, struct trapframe *tf)
{
	struct proc *p = l->l_proc;
	struct siginfo info;
	char buf[32];
	int sig;

	while (!p->p_exiting && (sig_pending(l) & ~l->l_kept.sk_mask) != 0) {
		sig = sig_take(l, ~l->l_kept.sk_mask, &info);
		if (sig_ignored(p, sig))
			continue;
		if (p->p_sig[sig].sa_handler == SIG_DFL &&
		    (STOPPING & SIGBIT(sig)) != 0) {
			sig_stop(l, sig);
			control_wait_stopped(l);
		} else if (p->p_sig[sig].sa_handler == SIG_DFL)
			report_and_kill(
			    l, tf, sig, sender_text(p, &info, buf, sizeof buf));
		else
			interrupt_user(l, tf, &info);
	}
}

/* Deliver signals, then end sigsuspend(2) and an interrupted system call. */
static void
deliver_pending(struct lwp *l, struct trapframe *tf)
{
	take_pending(l, tf);
	/* No handler ran after sigsuspend(2): restore the mask, look again. */
	if (l->l_sigrestore) {
		sig_resume_mask(l);
		take_pending(l, tf);
	}
	if (l->l_restart) {
		l->l_restart = false;
		tf_restart(tf);
	}
}

/* Overflows come first: all other work tolerates one more frame. */
void
trap_return(struct trapframe *tf)
{
	struct lwp *l = lwp_self();
	unsigned ast;

	while ((ast = l->l_ast) != 0) {
		if ((ast & AST_CPC) != 0) {
			l->l_ast = ast & ~AST_CPC;
			deliver_overflow(l, tf);
		} else if ((ast & AST_EXIT) != 0) {
			lwp_exit();
		} else if ((ast & (AST_STOP | AST_JOB)) != 0) {
			control_wait_stopped(l);
		} else if ((ast & AST_YIELD) != 0) {
			sched_preempt();
		} else {
			l->l_ast = 0;
			deliver_pending(l, tf);
		}
	}
	if (entry_watch != NULL)
		entry_watch->leave(l);
	else
		kernel_unlock();
}
