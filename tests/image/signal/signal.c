/* A signal to itself is delivered once, before the call returns, as asked. */
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
count_signal(int sig)
{
	last_sig = sig;
	calls++;
}

static void
record_siginfo(int sig, siginfo_t *si, void *uc)
{
	last_sig = sig == si->si_signo ? sig : -1;
	last_code = si->si_code;
	last_pid = si->si_pid;
	last_value = si->si_ptr;
	calls++;
}

/* Raise the signal again, up to five times in all. */
static void
raise_again(int sig)
{
	if (++depth > deepest)
		deepest = depth;
	if (++calls < 5)
		raise(sig);
	depth--;
}

static void
install_handler(int sig, void *handler, int flags)
{
	struct sigaction sa = { .sa_flags = flags };

	sa.sa_handler = (void (*)(int))handler;
	EXPECT_EQ(sigaction(sig, &sa, NULL), 0);
	calls = depth = deepest = 0;
}

TEST(raise_runs_the_handler_before_it_returns)
{
	install_handler(SIGUSR1, (void *)count_signal, 0);
	EXPECT_EQ(raise(SIGUSR1), 0);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(last_sig, SIGUSR1);
}

TEST(a_thousand_signals_run_it_a_thousand_times)
{
	install_handler(SIGUSR1, (void *)count_signal, 0);
	for (int i = 0; i < 1000; i++)
		raise(SIGUSR1);
	EXPECT_EQ(calls, 1000);
}

TEST(siginfo_names_the_sender_and_the_cause)
{
	install_handler(SIGUSR2, (void *)record_siginfo, SA_SIGINFO);
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
	install_handler(SIGRTMIN, (void *)record_siginfo, SA_SIGINFO);
	EXPECT_EQ(sigqueue(getpid(), SIGRTMIN,
		      (union sigval){ .sival_ptr = (void *)&calls }),
	    0);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(last_code, SI_QUEUE);
	EXPECT(last_value == (void *)&calls);
}

TEST(every_signal_has_its_number)
{
	for (int sig = 1; sig < _NSIG; sig++) {
		/* The C library uses 32 to 34 itself. */
		if (sig == SIGKILL || sig == SIGSTOP || (sig > 31 && sig < 35))
			continue;
		install_handler(sig, (void *)count_signal, 0);
		raise(sig);
		EXPECT_EQ(calls, 1);
		EXPECT_EQ(last_sig, sig);
		signal(sig, SIG_DFL);
	}
}

TEST(a_handler_is_not_interrupted_by_its_own_signal)
{
	install_handler(SIGUSR1, (void *)raise_again, 0);
	raise(SIGUSR1);
	EXPECT_EQ(calls, 5);
	EXPECT_EQ(deepest, 1);
}

TEST(nodefer_lets_its_own_signal_interrupt_it)
{
	install_handler(SIGUSR1, (void *)raise_again, SA_NODEFER);
	raise(SIGUSR1);
	EXPECT_EQ(calls, 5);
	EXPECT_EQ(deepest, 5);
}

TEST(resethand_runs_the_handler_once)
{
	struct sigaction sa;

	install_handler(SIGURG, (void *)count_signal, SA_RESETHAND);
	raise(SIGURG);
	EXPECT_EQ(sigaction(SIGURG, NULL, &sa), 0);
	EXPECT(sa.sa_handler == SIG_DFL);
	raise(SIGURG); /* its default action is nothing */
	EXPECT_EQ(calls, 1);
}

TEST(ignored_signals_do_nothing)
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
	struct sigaction sa = { .sa_handler = count_signal };

	EXPECT_ERRNO(sigaction(SIGKILL, &sa, NULL), EINVAL);
	EXPECT_ERRNO(sigaction(SIGSTOP, &sa, NULL), EINVAL);
}

TEST(wrong_targets_and_numbers_are_refused)
{
	EXPECT_EQ(kill(getpid(), 0), 0);
	EXPECT_ERRNO(kill(99999, SIGUSR1), ESRCH);
	EXPECT_ERRNO(kill(getpid(), 65), EINVAL);
	EXPECT_ERRNO(syscall(SYS_tkill, 99999, SIGUSR1), ESRCH);
	EXPECT_ERRNO(syscall(SYS_tgkill, 99999, getpid(), 0), ESRCH);
	EXPECT_ERRNO(syscall(SYS_tkill, 0, SIGUSR1), EINVAL);
	EXPECT_EQ(syscall(SYS_tgkill, getpid(), getpid(), 0), 0);
}

/* To others only kill(2) and the kernel may send these values of si_code. */
TEST(a_program_cannot_pose_as_the_kernel)
{
	siginfo_t si;

	memset(&si, 0, sizeof si);
	si.si_code = SI_USER;
	EXPECT_ERRNO(
	    syscall(SYS_rt_sigqueueinfo, getppid(), SIGUSR1, &si), EPERM);
	si.si_code = SEGV_MAPERR;
	EXPECT_ERRNO(
	    syscall(SYS_rt_sigqueueinfo, getppid(), SIGUSR1, &si), EPERM);
	si.si_code = SI_TKILL;
	EXPECT_ERRNO(
	    syscall(SYS_rt_sigqueueinfo, getppid(), SIGUSR1, &si), EPERM);
}
