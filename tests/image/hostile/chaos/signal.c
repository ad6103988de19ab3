/*
 * Acts on signals.  Every process handles the same signals, with random masks
 * and flags.  Each handler checks that its LWP's mask is right for its action.
 */
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NRT       4
#define NSIG_SENT (2 + NRT)
#define FIRST_RT  40 /* the C library uses the first few */

static struct sigaction acts[65];

int
chaos_signal(void)
{
	uint64_t n = chaos_below(NSIG_SENT);

	return n == 0 ? SIGUSR1 : n == 1 ? SIGUSR2 : FIRST_RT + (int)n - 2;
}

/* The mask as the kernel has it.  The C library would hide its own signals. */
static uint64_t
mask_now(void)
{
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
	return mask;
}

static uint64_t
mask_word(const sigset_t *set)
{
	uint64_t w;

	memcpy(&w, set, sizeof w);
	return w;
}

#define BIT(sig) (1ULL << ((sig)-1))

static uint64_t
random_mask(void)
{
	uint64_t mask = 0;

	for (int i = 0; i < NSIG_SENT; i++) {
		if (chaos_one_in(3))
			mask |= BIT(chaos_signal());
	}
	return mask;
}

static void
set_mask(int how, uint64_t set, uint64_t *old)
{
	CHAOS_EXPECT(
	    syscall(SYS_rt_sigprocmask, how, &set, old, sizeof set) == 0);
}

/*
 * May a handler run with this mask?  It must be the interrupted mask, or that
 * of sigsuspend(2), plus the signals that the handler's action adds.
 */
static bool
mask_allowed(int sig, uint64_t now, const ucontext_t *uc)
{
	const struct sigaction *sa = &acts[sig];
	uint64_t adds = mask_word(&sa->sa_mask);

	if ((sa->sa_flags & SA_NODEFER) == 0)
		adds |= BIT(sig);
	return now == (mask_word(&uc->uc_sigmask) | adds) ||
	       (chaos_self.chl_suspended &&
		   now == (chaos_self.chl_suspend | adds));
}

/* Fork in a handler. */
static void
fork_and_wait(void)
{
	int status = 0;
	pid_t pid = _Fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		CHAOS_EXPECT(errno == ENOMEM || errno == EAGAIN);
	else if (waitpid(pid, &status, 0) == pid)
		CHAOS_EXPECT(chaos_end_allowed(status));
}

static void
handle_signal(int sig, siginfo_t *si, void *context)
{
	int e = errno;

	chaos_self.chl_handled++;
	CHAOS_EXPECT(si->si_signo == sig);
	if (!mask_allowed(sig, mask_now(), context))
		chaos_wrong("in the handler of %d the mask is %#lx, was %#lx",
		    sig, (unsigned long)mask_now(),
		    (unsigned long)mask_word(
			&((ucontext_t *)context)->uc_sigmask));
	if (chaos_one_in(64))
		fork_and_wait();
	if (chaos_self.chl_may_jump && chaos_one_in(2)) {
		chaos_self.chl_may_jump = false;
		siglongjmp(chaos_self.chl_jump, 1);
	}
	errno = e;
}

static void
handle_fault(int sig, siginfo_t *si, void *context)
{
	(void)context;
	if (!chaos_self.chl_poking) {
		chaos_wrong("signal %d in %s, code %d, address %#lx", sig,
		    chaos_self.chl_doing, si->si_code,
		    (unsigned long)si->si_addr);
		signal(sig, SIG_DFL);
		return;
	}
	chaos_self.chl_poking = false;
	siglongjmp(chaos_self.chl_poke, 1);
}

void
chaos_handlers(void)
{
	static const int sigs[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGEMT, FIRST_RT,
		FIRST_RT + 1, FIRST_RT + 2, FIRST_RT + 3 };
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_NODEFER };

	sa.sa_sigaction = handle_fault;
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	sa.sa_sigaction = handle_signal;
	for (unsigned i = 0; i < sizeof sigs / sizeof *sigs; i++) {
		int sig = sigs[i];
		uint64_t mask = random_mask();

		memcpy(&sa.sa_mask, &mask, sizeof mask);
		sa.sa_flags = SA_SIGINFO;
		sa.sa_flags |= chaos_one_in(2) ? SA_RESTART : 0;
		sa.sa_flags |= chaos_one_in(2) ? SA_ONSTACK : 0;
		sa.sa_flags |= sig == SIGUSR2 ? SA_NODEFER : 0;
		acts[sig] = sa;
		CHAOS_EXPECT(sigaction(sig, &sa, NULL) == 0);
	}
}

/* The mask is as it was set; a signal that it blocks is pending. */
void
chaos_act_masks(void)
{
	uint64_t old, set = random_mask(), pending = 0;
	static _Thread_local char stack[32768];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof stack }, was;
	int sig = chaos_signal();

	if (sigaltstack(&ss, &was) != 0)
		CHAOS_EXPECT(errno == EPERM || errno == ENOMEM);
	set_mask(SIG_BLOCK, set | BIT(sig), &old);
	CHAOS_EXPECT(mask_now() == (old | set | BIT(sig)));
	CHAOS_EXPECT(syscall(SYS_tkill, syscall(SYS_gettid), sig) == 0 ||
		     errno == EAGAIN);
	syscall(SYS_rt_sigpending, &pending, sizeof pending);
	CHAOS_EXPECT((pending & ~mask_now()) == 0);
	if (sig < SIGRTMIN)
		CHAOS_EXPECT((pending & BIT(sig)) != 0);
	set_mask(SIG_SETMASK, old, NULL);
	CHAOS_EXPECT(mask_now() == old);
}

/* A blocked signal arrives in sigsuspend(2), ppoll(2): the mask comes back. */
void
chaos_act_suspend(void)
{
	uint64_t old, none = 0, set = ~0ULL & ~BIT(SIGSEGV) & ~BIT(SIGBUS);
	struct timespec moment = { 0, 20000 };
	unsigned handled;
	long got;

	set_mask(SIG_SETMASK, set, &old);
	set = mask_now();
	handled = chaos_self.chl_handled;
	chaos_self.chl_suspend = none;
	if (chaos_one_in(2)) {
		if (syscall(SYS_tkill, syscall(SYS_gettid), SIGUSR1) != 0)
			goto out;
		chaos_self.chl_suspended = true;
		got = syscall(SYS_rt_sigsuspend, &none, sizeof none);
		chaos_self.chl_suspended = false;
		CHAOS_EXPECT(got == -1 && errno == EINTR);
		CHAOS_EXPECT(chaos_self.chl_handled != handled);
	} else {
		chaos_self.chl_suspended = true;
		got = syscall(SYS_ppoll, NULL, 0, &moment, &none, sizeof none);
		chaos_self.chl_suspended = false;
		CHAOS_EXPECT(got == 0 || (got == -1 && errno == EINTR));
		CHAOS_EXPECT(
		    (got == -1) == (chaos_self.chl_handled != handled));
	}
	if (!CHAOS_EXPECT(mask_now() == set))
		chaos_wrong("the mask is %#lx, not %#lx",
		    (unsigned long)mask_now(), (unsigned long)set);
out:
	set_mask(SIG_SETMASK, old, NULL);
}

/* sigtimedwait(2) takes a blocked signal that was sent. */
void
chaos_act_wait_signal(void)
{
	struct timespec moment = { 0, (long)chaos_below(100000) };
	int sig = chaos_signal();
	uint64_t old, set = BIT(sig);
	siginfo_t si;
	bool sent = false;
	long got;

	set_mask(SIG_BLOCK, set, &old);
	if (chaos_one_in(2))
		sent = syscall(SYS_tkill, syscall(SYS_gettid), sig) == 0;
	got = syscall(SYS_rt_sigtimedwait, &set, &si, &moment, sizeof set);
	if (got == -1)
		CHAOS_EXPECT(errno == EINTR || (errno == EAGAIN && !sent));
	else
		CHAOS_EXPECT(got == sig && si.si_signo == sig);
	set_mask(SIG_SETMASK, old, NULL);
}

/* A handler may jump out of any of these calls. */
void
chaos_act_jump(void)
{
	struct timespec moment = { 0, 5000 };
	uint64_t mask = mask_now();
	int word_ = 0;

	if (sigsetjmp(chaos_self.chl_jump, 1) == 0) {
		chaos_self.chl_may_jump = true;
		for (uint64_t n = chaos_below(8); n > 0; n--) {
			switch (chaos_below(4)) {
			case 0:
				syscall(SYS_nanosleep, &moment, NULL);
				break;
			case 1:
				syscall(SYS_futex, &word_, 0, 0, &moment);
				break;
			case 2:
				syscall(SYS_tkill, syscall(SYS_gettid),
				    chaos_signal());
				break;
			default:
				syscall(SYS_ppoll, NULL, 0, &moment, NULL, 8);
				break;
			}
		}
	}
	chaos_self.chl_may_jump = false;
	CHAOS_EXPECT(mask_now() == mask);
}

/* Signal any process but the first, by number.  Most are unused. */
void
chaos_act_kill(void)
{
	int pid = chaos.ch_pid - 24 + (int)chaos_below(32), tid, sig;

	sig = chaos_one_in(24) ? chaos_one_in(2) ? SIGKILL : SIGTERM
	                       : chaos_signal();
	if (pid <= chaos.ch_root)
		pid = chaos.ch_pid;
	tid = chaos_one_in(2) ? pid : (int)syscall(SYS_gettid);
	switch (chaos_below(4)) {
	case 0:
		kill(pid, sig);
		break;
	case 1:
		for (uint64_t n = chaos_below(32); n > 0; n--)
			sigqueue(pid, sig, (union sigval){ .sival_int = 1 });
		break;
	case 2:
		syscall(SYS_tkill, tid, sig);
		break;
	default:
		syscall(SYS_tgkill, chaos.ch_pid, tid, sig);
		break;
	}
}

void
chaos_act_timer(void)
{
	struct itimerval it = { { 0, (long)chaos_below(2) * 300 },
		{ 0, (long)chaos_below(500) } };
	struct itimerval old;
	struct timespec moment = { 0, (long)chaos_below(200000) };

	CHAOS_EXPECT(setitimer(ITIMER_REAL, &it, &old) == 0);
	CHAOS_EXPECT(old.it_value.tv_sec == 0);
	nanosleep(&moment, NULL);
	CHAOS_EXPECT(getitimer(ITIMER_REAL, &it) == 0);
	it = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	CHAOS_EXPECT(setitimer(ITIMER_REAL, &it, NULL) == 0);
}
