/*
 * Signals: numbers and state, as Linux has them on x86-64 and arm64.
 * Included by kern/ and by arch/ for what a handler's frame holds.
 *
 * A signal is sent to an LWP or to its process.  It waits in a set of
 * pending ones until an LWP that does not block it is on its way to user
 * code (trap_return()): there its handler's frame is made, or the process
 * ends with a line that says which signal it was.
 */
#ifndef KERN_PROC_SIGNAL_H
#define KERN_PROC_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp;
struct proc;
struct trapframe;

#define NSIG     64
#define SIGRTMIN 32 /* from here on each one sent is kept */

#define SIGILL   4
#define SIGTRAP  5
#define SIGBUS   7
#define SIGFPE   8
#define SIGKILL  9
#define SIGSEGV  11
#define SIGEMT   16 /* Linux's SIGSTKFLT, which it never sends */
#define SIGPIPE  13
#define SIGALRM  14
#define SIGCHLD  17
#define SIGCONT  18
#define SIGSTOP  19
#define SIGURG   23
#define SIGWINCH 28

#define SIG_DFL 0
#define SIG_IGN 1

#define SIGBIT(sig) (1ULL << ((sig)-1)) /* in a signal set */
#define UNBLOCKABLE (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))

/* sa_flags */
#define SA_NOCLDWAIT 0x00000002
#define SA_SIGINFO   0x00000004
#define SA_ONSTACK   0x08000000
#define SA_RESTART   0x10000000
#define SA_NODEFER   0x40000000
#define SA_RESETHAND 0x80000000

/* sigaltstack(2) */
#define SS_ONSTACK 1
#define SS_DISABLE 2

/* si_code */
#define SI_USER     0
#define SI_TKILL    (-6)
#define SI_KERNEL   0x80
#define ILL_ILLOPC  1
#define FPE_INTDIV  1
#define FPE_FLTINV  7
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRALN  1
#define TRAP_BRKPT  1
#define TRAP_TRACE  2
#define EMT_CPCOVF  1
#define CLD_EXITED  1
#define CLD_KILLED  2

/* rt_sigaction(2)'s structure, the same on both machines. */
struct sigaction {
	uintptr_t sa_handler;
	uint64_t sa_flags;
	uintptr_t sa_restorer;
	uint64_t sa_mask;
};

/* stack_t of sigaltstack(2); no stack while ss_flags has SS_DISABLE. */
struct sigstack {
	uintptr_t ss_sp;
	uint64_t ss_flags;
	size_t ss_bytes;
};

/*
 * The start of siginfo_t, the same on both machines.  Behind it no signal of
 * ours has anything: in a handler's frame that is what was on the stack.
 */
#define SIGINFO_BYTES 128
struct siginfo {
	int32_t si_signo, si_errno, si_code, si_pad;
	union {
		struct {
			int32_t si_pid;
			uint32_t si_uid;
			int32_t si_status;
		};
		uint64_t si_addr;
		uint64_t si_rest[4];
	};
};

/* For one the kernel sends, all of it: a compiler's zeros are a call. */
static inline void
siginfo_set(struct siginfo *info, int sig, int code, uint64_t addr)
{
	info->si_signo = sig;
	info->si_errno = 0;
	info->si_code = code;
	info->si_pad = 0;
	info->si_rest[0] = addr;
	info->si_rest[1] = 0;
	info->si_rest[2] = 0;
	info->si_rest[3] = 0;
}

struct sigqueue;

/* Signals not yet delivered. */
struct sigpend {
	uint64_t sp_set;
	struct sigqueue *sp_first; /* what is known of them, oldest first */
};

/* l_ast: why an LWP has more to do before user code. */
#define AST_EXIT   0x1  /* its process ends */
#define AST_SIGNAL 0x2  /* look for signals */
#define AST_CPC    0x4  /* its counters overflowed */
#define AST_YIELD  0x8  /* others first */
#define AST_WATCH  0x10 /* always there with kernel_limit= */
/* These end no sleep. */
#define AST_NO_WAKE (AST_YIELD | AST_WATCH)

/* What of an LWP a handler's frame keeps, and its end brings back. */
struct sigkept {
	struct sigstack sk_stack; /* in the frame as sigaltstack(2) tells it */
	uint64_t sk_mask;
};

/* A handler's frame, but for the registers. */
struct sigframe {
	const struct sigaction *sf_act;
	const struct siginfo *sf_info;
	const struct sigkept *sf_kept;
	uintptr_t sf_stack; /* the end of a stack not in use; 0: of tf's */
	uintptr_t sf_limit; /* the frame goes not below this */
};

/* "SIGSEGV"; "SIG50" for what has no name. */
const char *sig_name(int sig, char buf[12]);

/*
 * Send.  Interrupts off, in any context, an interrupt included.  EAGAIN where
 * too many wait already: a real-time signal is lost then, of another one only
 * what is known of it.
 */
int sig_post_lwp(struct lwp *l, int sig, const struct siginfo *info);
int sig_post_proc(struct proc *p, int sig, const struct siginfo *info);
/* The counters of l froze: SIGEMT is due.  For kcpc_set_notify(). */
void sig_overflow(struct lwp *l);
/* l has this to do (AST_*), though it sleeps or runs elsewhere. */
void sig_kick(struct lwp *l, unsigned ast);

/*
 * Of the running LWP: is there a signal to deliver, so that a sleep should
 * end?  A sleep that ended with EINTR asks, since others may have taken it.
 */
bool sig_check(struct lwp *l);
/* Will it end the process, once it looks? */
bool sig_deadly(const struct lwp *l);
/*
 * Make the system call again unless a handler without SA_RESTART runs; then
 * it fails with EINTR.  What an interrupted call returns.
 */
intptr_t sig_restart(struct lwp *l);
void sig_set_mask(struct lwp *l, uint64_t mask);
/*
 * Replace the mask until the next handler has been entered; or bring it back,
 * where the call ends without a signal.
 */
void sig_suspend_mask(struct lwp *l, uint64_t mask);
void sig_resume_mask(struct lwp *l);
/* Take one of set, pending for the running LWP; its number, or 0. */
int sig_take(struct lwp *l, uint64_t set, struct siginfo *info);
void sig_set_action(struct proc *p, int sig, const struct sigaction *act);
/* Its disposition means that nothing happens. */
bool sig_ignored(const struct proc *p, int sig);

/* The running LWP ends: others see to what was sent to the process. */
void sig_lwp_exit(struct lwp *l);
/* fork(2): to is the only LWP of a new process. */
void sig_fork(const struct lwp *from, struct lwp *to);
/* execve(2): no handler is left, and no stack for them. */
void sig_exec(struct lwp *l);
/* Forget what is pending; nobody else sees it. */
void sig_flush(struct proc *p, struct sigpend *sp);

/*
 * sigdeliver.c, of the running LWP and its frame.
 */

/* Run the handler now.  False: blocked, or there is none. */
bool sig_run(struct lwp *l, struct trapframe *tf, struct siginfo *info);
/* A signal nobody but the LWP itself brought about; why is for the report. */
void sig_force(
    struct lwp *l, struct trapframe *tf, struct siginfo *info, const char *why);
/*
 * Its counters froze on the way to sleep.  Unless a handler is to run, that is
 * seen to here, since it ends no sleep: a sample of a profile, a SIGEMT that is
 * blocked or ignored, and counters that were taken away since.
 */
void sig_overflow_asleep(struct lwp *l);
/* Is sp in the LWP's alternate stack? */
bool sig_on_altstack(const struct lwp *l, uintptr_t sp);

#endif /* KERN_PROC_SIGNAL_H */
