/*
 * A signal a program sends to itself has been delivered when the call that
 * sent it returns, once, to the handler that is installed, with what the
 * flags of sigaction(2) ask for.
 */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int calls, last_sig, last_code, last_pid, depth, deepest;
static void *volatile last_value;

static void
plain(int sig)
{
	last_sig = sig;
	calls++;
}

static void
informed(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	last_sig = sig == si->si_signo ? sig : -1;
	last_code = si->si_code;
	last_pid = si->si_pid;
	last_value = si->si_ptr;
	calls++;
}

/* Raises itself again, as long as it may. */
static void
nesting(int sig)
{
	if (++depth > deepest)
		deepest = depth;
	if (++calls < 5)
		raise(sig);
	depth--;
}

static void
install(int sig, void *handler, int flags)
{
	struct sigaction sa = { .sa_flags = flags };

	sa.sa_handler = (void (*)(int))handler;
	EXPECT_EQ(sigaction(sig, &sa, NULL), 0);
	calls = depth = deepest = 0;
}

TEST(raise_runs_the_handler_before_it_returns)
{
	install(SIGUSR1, (void *)plain, 0);
	EXPECT_EQ(raise(SIGUSR1), 0);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(last_sig, SIGUSR1);
}

TEST(a_thousand_signals_run_it_a_thousand_times)
{
	int i;

	install(SIGUSR1, (void *)plain, 0);
	for (i = 0; i < 1000; i++)
		raise(SIGUSR1);
	EXPECT_EQ(calls, 1000);
}

TEST(siginfo_tells_who_sent_it_and_how)
{
	install(SIGUSR2, (void *)informed, SA_SIGINFO);
	EXPECT_EQ(kill(getpid(), SIGUSR2), 0);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(last_sig, SIGUSR2);
	EXPECT_EQ(last_code, SI_USER);
	EXPECT_EQ(last_pid, getpid());
	EXPECT_EQ(raise(SIGUSR2), 0);
	EXPECT_EQ(last_code, SI_TKILL);
}

TEST(sigqueue_carries_a_value)
{
	install(SIGRTMIN, (void *)informed, SA_SIGINFO);
	EXPECT_EQ(sigqueue(getpid(), SIGRTMIN,
		      (union sigval){ .sival_ptr = (void *)&calls }),
	    0);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(last_code, SI_QUEUE);
	EXPECT(last_value == (void *)&calls);
}

TEST(every_signal_has_its_number)
{
	int sig;

	for (sig = 1; sig < _NSIG; sig++) {
		/* The C library keeps 32 to 34 for itself. */
		if (sig == SIGKILL || sig == SIGSTOP || (sig > 31 && sig < 35))
			continue;
		install(sig, (void *)plain, 0);
		raise(sig);
		EXPECT_EQ(calls, 1);
		EXPECT_EQ(last_sig, sig);
		signal(sig, SIG_DFL);
	}
}

TEST(a_handler_is_not_interrupted_by_its_own_signal)
{
	install(SIGUSR1, (void *)nesting, 0);
	raise(SIGUSR1);
	EXPECT_EQ(calls, 5);
	EXPECT_EQ(deepest, 1);
}

TEST(nodefer_lets_it)
{
	install(SIGUSR1, (void *)nesting, SA_NODEFER);
	raise(SIGUSR1);
	EXPECT_EQ(calls, 5);
	EXPECT_EQ(deepest, 5);
}

TEST(resethand_runs_it_once)
{
	struct sigaction sa;

	install(SIGURG, (void *)plain, SA_RESETHAND);
	raise(SIGURG);
	EXPECT_EQ(sigaction(SIGURG, NULL, &sa), 0);
	EXPECT(sa.sa_handler == SIG_DFL);
	raise(SIGURG); /* whose default is nothing */
	EXPECT_EQ(calls, 1);
}

TEST(ignored_ones_do_nothing)
{
	signal(SIGTERM, SIG_IGN);
	EXPECT_EQ(raise(SIGTERM), 0);
	signal(SIGTERM, SIG_DFL);
	EXPECT_EQ(raise(SIGCHLD), 0);
	EXPECT_EQ(raise(SIGURG), 0);
	EXPECT_EQ(raise(SIGWINCH), 0);
	EXPECT_EQ(raise(SIGCONT), 0);
}

TEST(kill_and_stop_cannot_be_caught)
{
	struct sigaction sa = { .sa_handler = plain };

	EXPECT_ERRNO(sigaction(SIGKILL, &sa, NULL), EINVAL);
	EXPECT_ERRNO(sigaction(SIGSTOP, &sa, NULL), EINVAL);
}

TEST(who_does_not_exist_cannot_be_sent_one)
{
	EXPECT_EQ(kill(getpid(), 0), 0);
	EXPECT_ERRNO(kill(99999, SIGUSR1), ESRCH);
	EXPECT_ERRNO(kill(getpid(), 65), EINVAL);
	EXPECT_ERRNO(syscall(SYS_tkill, 99999, SIGUSR1), ESRCH);
	EXPECT_ERRNO(syscall(SYS_tgkill, 99999, getpid(), 0), ESRCH);
	EXPECT_ERRNO(syscall(SYS_tkill, 0, SIGUSR1), EINVAL);
	EXPECT_EQ(syscall(SYS_tgkill, getpid(), getpid(), 0), 0);
}

/* si_code is the kernel's to set for what kill(2) and the kernel send. */
TEST(nobody_can_pose_as_the_kernel)
{
	siginfo_t si;

	memset(&si, 0, sizeof si);
	si.si_code = SI_USER;
	EXPECT_ERRNO(
	    syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &si), EPERM);
	si.si_code = SEGV_MAPERR;
	EXPECT_ERRNO(
	    syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &si), EPERM);
	si.si_code = SI_TKILL;
	EXPECT_ERRNO(
	    syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &si), EPERM);
}
