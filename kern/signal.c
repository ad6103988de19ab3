#include "kern/signal.h"

#include "kern/arch.h"
#include "kern/fault.h"
#include "kern/lwp.h"
#include "kern/proc.h"
#include "lib/printf.h"

static const char *const names[] = { NULL, "SIGHUP", "SIGINT", "SIGQUIT",
	"SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL",
	"SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM",
	"SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
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

/* signal(7), "Standard signals": those whose default action is nothing. */
static bool
ignored_by_default(int sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG ||
	       sig == SIGWINCH;
}

void
sig_send(struct lwp *l, int sig, const char *why)
{
	struct proc *p = l->l_proc;
	uintptr_t handler = p->p_sig[sig].sa_handler;
	char where[FAULT_WHERE_MAX], name[12];

	if (handler == SIG_IGN ||
	    (handler == SIG_DFL && ignored_by_default(sig)))
		return;
	if (l->l_sigmask & SIGBIT(sig)) {
		l->l_sigpending |= SIGBIT(sig);
		return;
	}
	fault_where(p, tf_pc(l->l_tf), where, sizeof where);
	printf("barecpc: %s: %s at pc %s: %s%s\n", p->p_name,
	    sig_name(sig, name), where, why,
	    handler == SIG_DFL
		? ""
		: "; its handler was not run: handlers are not delivered");
	proc_kill(p, 128 + sig);
}
