/*
 * Sends signals: pending sets, the choice of the LWP that takes a signal,
 * masks and actions.  signal_deliver.c delivers them.
 */
#include "kern/proc/signal.h"

#include "kern/arch.h"
#include "kern/file/epoll.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/control/control.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"

/* At most this many signals of a process are queued with their siginfo. */
#define NSIGQ_MAX 1024

static const char *const names[] = { NULL, "SIGHUP", "SIGINT", "SIGQUIT",
	"SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL",
	"SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM",
	"SIGEMT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
	"SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF",
	"SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS" };
#define NNAMES (int)(sizeof names / sizeof *names)

const char *
sig_name(int sig, char buf[12])
{
	if (sig > 0 && sig < NNAMES)
		return names[sig];
	snprintf(buf, 12, "SIG%d", sig);
	return buf;
}

bool
sig_ignored(const struct proc *p, int sig)
{
	uintptr_t handler = p->p_sig[sig].sa_handler;

	/* signal(7), "Standard signals": default action "Ign" or "Cont". */
	return handler == SIG_IGN ||
	       (handler == SIG_DFL && (sig == SIGCHLD || sig == SIGCONT ||
					  sig == SIGURG || sig == SIGWINCH));
}

/* Sets of pending signals */

static void
queue_free(struct sigpend *sp, struct sigqueue *sq)
{
	if (sq == &sp->sp_own)
		sp->sp_own_used = false;
	else
		kfree(sq);
}

static int
pend_add(
    struct proc *p, struct sigpend *sp, int sig, const struct siginfo *info)
{
	struct sigqueue **link, *sq = NULL;

	/* A standard signal is pending only once at a time. */
	if (sig < SIGRTMIN && (sp->sp_set & SIGBIT(sig)) != 0)
		return 0;
	/*
	 * A set has room for one signal.  Mostly a signal is taken before the
	 * next one comes.  kmalloc() could take and free a page for each.
	 */
	if (p->p_nsigq < NSIGQ_MAX)
		sq = sp->sp_own_used ? kmalloc(sizeof *sq) : &sp->sp_own;
	if (sq == NULL && sig >= SIGRTMIN)
		return EAGAIN;
	sp->sp_set |= SIGBIT(sig);
	signal_files_changed();
	if (sq == NULL)
		return 0;
	sp->sp_own_used |= sq == &sp->sp_own;
	sq->sq_info = *info;
	sq->sq_next = NULL;
	for (link = &sp->sp_first; *link != NULL;)
		link = &(*link)->sq_next;
	*link = sq;
	p->p_nsigq++;
	return 0;
}

/* Unlink the oldest siginfo of this signal.  Returns NULL if none is queued. */
static struct sigqueue *
pend_unlink(struct sigpend *sp, int sig)
{
	struct sigqueue **link, *sq;

	for (link = &sp->sp_first; (sq = *link) != NULL; link = &sq->sq_next) {
		if (sq->sq_info.si_signo == sig) {
			*link = sq->sq_next;
			return sq;
		}
	}
	return NULL;
}

/* Take the lowest pending signal of `set`.  Returns its number, or 0. */
static int
pend_take(
    struct proc *p, struct sigpend *sp, uint64_t set, struct siginfo *info)
{
	struct sigqueue *sq, *more;
	int sig;

	if ((set &= sp->sp_set) == 0)
		return 0;
	sig = __builtin_ctzll(set) + 1;
	sp->sp_set &= ~SIGBIT(sig);
	*info = (struct siginfo){ .si_signo = sig, .si_code = SI_USER };
	if ((sq = pend_unlink(sp, sig)) == NULL)
		return sig;
	*info = sq->sq_info;
	p->p_nsigq--;
	queue_free(sp, sq);
	for (more = sp->sp_first; more != NULL; more = more->sq_next) {
		if (more->sq_info.si_signo == sig)
			sp->sp_set |= SIGBIT(sig);
	}
	return sig;
}

static void
pend_drop(struct proc *p, struct sigpend *sp, int sig)
{
	struct sigqueue *sq;

	sp->sp_set &= ~SIGBIT(sig);
	while ((sq = pend_unlink(sp, sig)) != NULL) {
		p->p_nsigq--;
		queue_free(sp, sq);
	}
}

void
sig_flush(struct proc *p, struct sigpend *sp)
{
	struct sigqueue *sq;

	while ((sq = sp->sp_first) != NULL) {
		sp->sp_first = sq->sq_next;
		p->p_nsigq--;
		queue_free(sp, sq);
	}
	sp->sp_set = 0;
}

/* Sending */

void
sig_notify(struct lwp *l, unsigned ast)
{
	l->l_ast |= ast;
	sched_interrupt(l);
	/* On another CPU, make it enter the kernel: trap_return() looks. */
	if (l->l_state == LWP_RUNNING && l->l_cpu != arch_curcpu())
		arch_ipi(l->l_cpu, IPI_RESCHED);
}

static bool
accepts_signal(const struct lwp *l, int sig)
{
	return ((~l->l_kept.sk_mask | l->l_sigwait) & SIGBIT(sig)) != 0;
}

static struct lwp *
find_running(const struct proc *p, int sig)
{
	for (unsigned i = 0; i < ncpu; i++) {
		struct lwp *l = cpus[i].c_lwp;

		if (l != NULL && l->l_proc == p && accepts_signal(l, sig))
			return l;
	}
	return NULL;
}

/*
 * Choose the LWP that takes a signal sent to the process.  Prefer the running
 * LWP, then an LWP on another CPU, then one that sig_notify() wakes.  An LWP in
 * vfork(2) comes next.  A new LWP is last: its creator may be stopped, and then
 * it does not run.
 */
static struct lwp *
find_taker(struct proc *p, int sig)
{
	struct lwp *l = lwp_self(), *last = NULL;

	if (l->l_proc == p && l->l_state == LWP_RUNNING &&
	    accepts_signal(l, sig))
		return l;
	if (p->p_nlwp > 1 && (l = find_running(p, sig)) != NULL)
		return l;
	for (l = p->p_lwps; l != NULL; l = l->l_sibling) {
		if (l->l_state == LWP_ZOMBIE || !accepts_signal(l, sig))
			continue;
		if (!l->l_vforking && l->l_state != LWP_NEW)
			return l;
		if (last == NULL || l->l_vforking)
			last = l;
	}
	return last;
}

/* Drop the pending signals of a set. */
static void
drop_all(struct proc *p, uint64_t set)
{
	for (; set != 0; set &= set - 1) {
		int sig = __builtin_ctzll(set) + 1;

		pend_drop(p, &p->p_sigpend, sig);
		for (struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling)
			pend_drop(p, &l->l_sigpend, sig);
	}
}

void
sig_stop(struct lwp *l, int sig)
{
	struct proc *p = l->l_proc;

	p->p_stopped = sig;
	p->p_job = CLD_STOPPED;
	for (struct lwp *o = p->p_lwps; o != NULL; o = o->l_sibling) {
		o->l_ast |= AST_JOB;
		if (o->l_state == LWP_RUNNING && o != l)
			arch_ipi(o->l_cpu, IPI_RESCHED);
	}
	proc_tell_parent(p, CLD_STOPPED, sig);
}

/* SIGCONT, also blocked or ignored, continues a process that was stopped. */
static void
job_signal(struct proc *p, int sig)
{
	bool stopped = p->p_stopped != 0;

	if ((STOPPING & SIGBIT(sig)) != 0) {
		drop_all(p, SIGBIT(SIGCONT));
		return;
	}
	if (sig == SIGCONT)
		drop_all(p, STOPPING);
	if (!stopped)
		return;
	p->p_stopped = p->p_job = 0;
	for (struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling)
		l->l_ast &= ~AST_JOB;
	waitq_wake(&p->p_parked, ~0U);
	if (sig == SIGCONT) {
		p->p_job = CLD_CONTINUED;
		proc_tell_parent(p, CLD_CONTINUED, SIGCONT);
	}
}

/* Does the process take this signal?  Returns false if it ends. */
static inline bool
may_post(struct proc *p, int sig)
{
	const uint64_t job = STOPPING | SIGBIT(SIGCONT) | SIGBIT(SIGKILL);

	if (p->p_exiting || p->p_done)
		return false;
	if ((job & SIGBIT(sig)) != 0)
		job_signal(p, sig);
	return true;
}

int
sig_post_lwp(struct lwp *l, int sig, const struct siginfo *info)
{
	struct proc *p = l->l_proc;
	int err;

	if (!may_post(p, sig))
		return 0;
	if (!accepts_signal(l, sig))
		return pend_add(p, &l->l_sigpend, sig, info);
	if (sig_ignored(p, sig) && (l->l_sigwait & SIGBIT(sig)) == 0)
		return 0;
	if ((err = pend_add(p, &l->l_sigpend, sig, info)) == 0)
		sig_notify(l, AST_SIGNAL);
	return err;
}

/*
 * Interrupt the LWP that takes the signal.  If the signal may end the process,
 * the ready LWPs look for it too, so that the first to run ends the process.
 */
static void
kick_taker(struct proc *p, struct lwp *taker, int sig)
{
	sig_notify(taker, AST_SIGNAL);
	if (p->p_sig[sig].sa_handler != SIG_DFL)
		return;
	for (struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling) {
		if (l != taker && l->l_state == LWP_READY &&
		    accepts_signal(l, sig))
			sig_notify(l, AST_SIGNAL);
	}
}

int
sig_post_proc(struct proc *p, int sig, const struct siginfo *info)
{
	struct lwp *l;
	int err;

	if (!may_post(p, sig))
		return 0;
	l = find_taker(p, sig);
	if (l != NULL && sig_ignored(p, sig) &&
	    (l->l_sigwait & SIGBIT(sig)) == 0)
		return 0;
	if ((err = pend_add(p, &p->p_sigpend, sig, info)) == 0 && l != NULL)
		kick_taker(p, l, sig);
	return err;
}

void
sig_overflow(struct lwp *l)
{
	/* l runs on this CPU, or is on its way to sleep. */
	l->l_ast |= AST_CPC;
	if (l->l_waitq != NULL)
		sched_interrupt(l);
}

/* Hand the process's pending signals that l now blocks to other LWPs. */
static void
find_others(struct lwp *l)
{
	struct proc *p = l->l_proc;

	for (uint64_t set = p->p_sigpend.sp_set; set != 0; set &= set - 1) {
		int sig = __builtin_ctzll(set) + 1;
		struct lwp *o;

		if (!accepts_signal(l, sig) && (o = find_taker(p, sig)) != NULL)
			sig_notify(o, AST_SIGNAL);
	}
}

/* The running LWP */

/*
 * Drop pending signals that are ignored and no longer blocked: they must not
 * end a sleep.  Returns the signals to deliver.
 */
static uint64_t
drop_ignored(struct lwp *l)
{
	struct proc *p = l->l_proc;
	uint64_t due = sig_pending(l) & ~l->l_kept.sk_mask;

	for (uint64_t set = due; set != 0; set &= set - 1) {
		int sig = __builtin_ctzll(set) + 1;

		if (!sig_ignored(p, sig))
			continue;
		pend_drop(p, &l->l_sigpend, sig);
		pend_drop(p, &p->p_sigpend, sig);
		due &= ~SIGBIT(sig);
	}
	return due;
}

/* Take a pending signal that stops the process, and wait for SIGCONT. */
static bool
stop_now(struct lwp *l)
{
	uint64_t set = sig_pending(l) & ~l->l_kept.sk_mask & STOPPING;
	struct siginfo info;

	for (; set != 0; set &= set - 1) {
		int sig = __builtin_ctzll(set) + 1;

		if (l->l_proc->p_sig[sig].sa_handler != SIG_DFL)
			continue;
		sig_take(l, SIGBIT(sig), &info);
		sig_stop(l, sig);
		control_wait_stopped(l);
		return true;
	}
	return false;
}

bool
sig_check(struct lwp *l)
{
	/* A call goes on after SIGCONT as if nothing had happened. */
	while (stop_now(l))
		;
	if ((l->l_ast & AST_CPC) != 0)
		sig_overflow_asleep(l);
	if ((l->l_ast & (AST_EXIT | AST_CPC)) != 0)
		return true;
	l->l_ast &= ~AST_SIGNAL;
	if (drop_ignored(l) != 0)
		l->l_ast |= AST_SIGNAL;
	return (l->l_ast & ~AST_NO_WAKE) != 0;
}

bool
sig_deadly(const struct lwp *l)
{
	const struct proc *p = l->l_proc;
	uint64_t set = sig_pending(l) & ~l->l_kept.sk_mask;

	for (; set != 0; set &= set - 1) {
		int sig = __builtin_ctzll(set) + 1;

		if (p->p_sig[sig].sa_handler == SIG_DFL &&
		    !sig_ignored(p, sig) && (STOPPING & SIGBIT(sig)) == 0)
			return true;
	}
	return false;
}

intptr_t
sig_restart(struct lwp *l)
{
	l->l_restart = true;
	l->l_ast |= AST_SIGNAL; /* deliver_pending() restarts the call */
	return -EJUSTRETURN;
}

void
sig_set_mask(struct lwp *l, uint64_t mask)
{
	l->l_kept.sk_mask = mask & ~UNBLOCKABLE;
	if ((sig_pending(l) & ~l->l_kept.sk_mask) != 0)
		l->l_ast |= AST_SIGNAL;
	if (l->l_proc->p_sigpend.sp_set != 0)
		find_others(l);
}

void
sig_suspend_mask(struct lwp *l, uint64_t mask)
{
	l->l_sigsaved = l->l_kept.sk_mask;
	l->l_sigrestore = true;
	l->l_ast |= AST_SIGNAL; /* trap_return() restores it at the latest */
	sig_set_mask(l, mask);
}

void
sig_resume_mask(struct lwp *l)
{
	if (!l->l_sigrestore)
		return;
	l->l_sigrestore = false;
	sig_set_mask(l, l->l_sigsaved);
}

int
sig_take(struct lwp *l, uint64_t set, struct siginfo *info)
{
	struct proc *p = l->l_proc;
	int sig = pend_take(p, &l->l_sigpend, set, info);

	return sig != 0 ? sig : pend_take(p, &p->p_sigpend, set, info);
}

void
sig_set_action(struct proc *p, int sig, const struct sigaction *act)
{
	p->p_sig[sig] = *act;
	if (sig_ignored(p, sig))
		drop_all(p, SIGBIT(sig));
}

void
sig_lwp_exit(struct lwp *l)
{
	l->l_kept.sk_mask = ~0ULL;
	l->l_sigwait = 0;
	find_others(l);
}

void
sig_fork(const struct lwp *from, struct lwp *to)
{
	for (int sig = 1; sig <= NSIG; sig++)
		to->l_proc->p_sig[sig] = from->l_proc->p_sig[sig];
	to->l_kept.sk_mask = from->l_kept.sk_mask;
	to->l_kept.sk_stack = from->l_kept.sk_stack;
}

void
sig_exec(struct lwp *l)
{
	for (int sig = 1; sig <= NSIG; sig++) {
		struct sigaction *act = &l->l_proc->p_sig[sig];
		uintptr_t handler = act->sa_handler;

		*act = (struct sigaction){
			.sa_handler = handler == SIG_IGN ? SIG_IGN : SIG_DFL,
		};
	}
	l->l_kept.sk_stack = (struct sigstack){ .ss_flags = SS_DISABLE };
}
