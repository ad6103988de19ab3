/*
 * Signals: numbers and state, as Linux has them on x86-64 and arm64.
 * Included by kern/.
 *
 * A signal does what its default action says, or nothing where it is
 * ignored.  Handlers are remembered but not run: a signal that has one ends
 * the process with a report, never silently.
 */
#ifndef KERN_SIGNAL_H
#define KERN_SIGNAL_H

#include <stdint.h>

struct lwp;
struct proc;

#define NSIG 64

#define SIGILL   4
#define SIGTRAP  5
#define SIGBUS   7
#define SIGFPE   8
#define SIGKILL  9
#define SIGSEGV  11
#define SIGCHLD  17
#define SIGCONT  18
#define SIGSTOP  19
#define SIGURG   23
#define SIGWINCH 28

#define SIG_DFL 0
#define SIG_IGN 1

#define SIGBIT(sig) (1ULL << ((sig)-1)) /* in a signal set */

#define SS_DISABLE 2 /* sigaltstack(2): there is none */

/* rt_sigaction(2)'s structure, the same on both machines. */
struct sigaction {
	uintptr_t sa_handler;
	uint64_t sa_flags;
	uintptr_t sa_restorer;
	uint64_t sa_mask;
};

/* "SIGSEGV"; "SIG50" for what has no name. */
const char *sig_name(int sig, char buf[12]);
/* Send sig to l, for a reason named in the report ("sent by itself"). */
void sig_send(struct lwp *l, int sig, const char *why);

#endif /* KERN_SIGNAL_H */
