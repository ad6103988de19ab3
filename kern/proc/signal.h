/*
 * Signals, with the numbers and structures of Linux on x86-64 and arm64.
 * Included by kern/, and by arch/ for the frame of a handler.
 *
 * A signal is sent to an LWP or to its process, and becomes pending.  An LWP
 * that does not block it takes it on the way to user code, in trap_return().
 * There it gets a frame for the handler, or the process ends with a line that
 * names the signal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp;
struct proc;
struct trapframe;

#define NSIG     64
#define SIGRTMIN 32 /* signals from here on are queued each time */

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
#define SIGTSTP  20
#define SIGTTIN  21
#define SIGTTOU  22
#define SIGURG   23
#define SIGWINCH 28

#define SIG_DFL 0
#define SIG_IGN 1

#define SIGBIT(sig) (1ULL << ((sig)-1)) /* in a signal set */
#define UNBLOCKABLE (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))
/* These stop the process by default. */
#define STOPPING                                                               \
	(SIGBIT(SIGSTOP) | SIGBIT(SIGTSTP) | SIGBIT(SIGTTIN) | SIGBIT(SIGTTOU))

/* sa_flags */
#define SA_NOCLDSTOP    0x00000001
#define SA_NOCLDWAIT    0x00000002
#define SA_SIGINFO      0x00000004
#define SA_HAS_RESTORER 0x04000000 /* Linux: SA_RESTORER */
#define SA_ONSTACK      0x08000000
#define SA_RESTART      0x10000000
#define SA_NODEFER      0x40000000
#define SA_RESETHAND    0x80000000

/* sigaltstack(2) */
#define SS_ONSTACK 1
#define SS_DISABLE 2

/* si_code */
#define SI_USER       0
#define SI_TKILL      (-6)
#define SI_KERNEL     0x80
#define ILL_ILLOPC    1
#define FPE_INTDIV    1
#define FPE_FLTINV    7
#define SEGV_MAPERR   1
#define SEGV_ACCERR   2
#define BUS_ADRALN    1
#define TRAP_BRKPT    1
#define TRAP_TRACE    2
#define EMT_CPCOVF    1
#define CLD_EXITED    1
#define CLD_KILLED    2
#define CLD_STOPPED   5
#define CLD_CONTINUED 6

/* rt_sigaction(2)'s structure, the same on both machines. */
struct sigaction {
	uintptr_t sa_handler;
	uint64_t sa_flags;
	uintptr_t sa_restorer;
	uint64_t sa_mask;
};

/* stack_t of sigaltstack(2).  SS_DISABLE in ss_flags: no stack. */
struct sigstack {
	uintptr_t ss_sp;
	uint64_t ss_flags;
	size_t ss_bytes;
};

/*
 * The start of siginfo_t, the same on both machines.  The kernel sends no
 * signal that uses the rest, and leaves it unwritten in a handler's frame.
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
		uint64_t si_addr, si_rest[4];
	};
};

/* Set every field.  A compound literal would compile to a call of memset(). */
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

struct sigqueue {
	struct sigqueue *sq_next;
	struct siginfo sq_info;
};

/* Signals not yet delivered. */
struct sigpend {
	uint64_t sp_set;
	struct sigqueue *sp_first; /* their siginfo, oldest first */
	struct sigqueue sp_own;    /* room for one of them */
	bool sp_own_used;
};

/* l_ast: work that an LWP has to do before user code. */
#define AST_EXIT   0x1  /* exit: its process ends */
#define AST_SIGNAL 0x2  /* look for signals */
#define AST_CPC    0x4  /* its counters overflowed */
#define AST_YIELD  0x8  /* let others run */
#define AST_WATCH  0x10 /* always set with kernel_limit= */
#define AST_STOP   0x20 /* wait for its controller (control.c) */
#define AST_JOB    0x40 /* wait for SIGCONT */
/* These end no sleep. */
#define AST_NO_WAKE (AST_YIELD | AST_WATCH | AST_STOP | AST_JOB)

/* The state that a handler's frame saves and its return restores. */
struct sigkept {
	struct sigstack sk_stack; /* as sigaltstack(2) reports it */
	uint64_t sk_mask;
};

/* The contents of a handler's frame, except the registers. */
struct sigframe {
	const struct sigaction *sf_act;
	const struct siginfo *sf_info;
	const struct sigkept *sf_kept;
	uintptr_t sf_stack; /* top of an unused stack; 0: the current one */
	uintptr_t sf_limit; /* the lowest address for the frame */
};

/* Returns "SIGSEGV", or "SIG50" for a signal without a name. */
const char *sig_name(int sig, char buf[12]);

/*
 * Send a signal.  Callable with interrupts off in any context.  Returns 0, or
 * EAGAIN if too many signals are queued: a real-time signal is then lost, a
 * standard one loses its siginfo.
 */
int sig_post_lwp(struct lwp *l, int sig, const struct siginfo *info);
int sig_post_proc(struct proc *p, int sig, const struct siginfo *info);
/* The counters of l froze: mark SIGEMT as due.  For kcpc_set_notify(). */
void sig_overflow(struct lwp *l);
/* Give l more work (AST_*), and wake or interrupt it. */
void sig_notify(struct lwp *l, unsigned ast);

/*
 * Does the running LWP have a signal to deliver, which should end a sleep?
 * Check after EINTR: another LWP may have taken the signal.
 */
bool sig_check(struct lwp *l);
/*
 * The running LWP took a signal that stops its process: order all LWPs to wait
 * in trap_return() until SIGCONT or SIGKILL.
 */
void sig_stop(struct lwp *l, int sig);
/* Will a pending signal end the process? */
bool sig_deadly(const struct lwp *l);
/*
 * Make the system call again, unless a handler without SA_RESTART runs; then
 * it fails with EINTR.  Returns the result for the interrupted call to return.
 */
intptr_t sig_restart(struct lwp *l);
void sig_set_mask(struct lwp *l, uint64_t mask);
/*
 * sig_suspend_mask() replaces the mask until the next handler starts.
 * sig_resume_mask() restores it if the call ends without a signal.
 */
void sig_suspend_mask(struct lwp *l, uint64_t mask);
void sig_resume_mask(struct lwp *l);
/* Take a pending signal of `set`.  Returns its number, or 0. */
int sig_take(struct lwp *l, uint64_t set, struct siginfo *info);
void sig_set_action(struct proc *p, int sig, const struct sigaction *act);
/* Does the process ignore this signal, by choice or by default? */
bool sig_ignored(const struct proc *p, int sig);

/* The running LWP exits: find others for the process's signals. */
void sig_lwp_exit(struct lwp *l);
/* fork(2): `to` is the only LWP of a new process. */
void sig_fork(const struct lwp *from, struct lwp *to);
/* execve(2): reset handlers and the alternate stack. */
void sig_exec(struct lwp *l);
/* Discard all pending signals of a set that no LWP uses any more. */
void sig_flush(struct proc *p, struct sigpend *sp);

/* signal_deliver.c.  These act on the running LWP and its trap frame. */

/* Run the handler now.  False: there is no handler, or it is blocked. */
bool sig_run_handler(struct lwp *l, struct trapframe *tf, struct siginfo *info);
/* Run the handler of the LWP's own fault, or end the process; why: report. */
void sig_run_or_die(
    struct lwp *l, struct trapframe *tf, struct siginfo *info, const char *why);
/*
 * The counters of l froze while it was going to sleep.  Handle here what
 * needs no handler, so that it ends no sleep.  That is a profile's sample, a
 * SIGEMT that is blocked or ignored, or counters that were taken away.
 */
void sig_overflow_asleep(struct lwp *l);
/* Is sp in the LWP's alternate stack? */
bool sig_on_altstack(const struct lwp *l, uintptr_t sp);
