/*
 * A blocked signal stays pending until it is unblocked, or until
 * sigtimedwait(2) or sigsuspend(2) takes it.  A standard signal is pending
 * once, a real-time signal as often as it was sent.
 */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/processor.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64); /* the C library keeps stacks of threads */

static volatile int order[32], norder;
static sigset_t in_handler;

static void
record_signal(int sig)
{
	if (norder < 32)
		order[norder++] = sig;
	sigprocmask(SIG_SETMASK, NULL, &in_handler);
}

static void
install_handler(int sig, int also_blocked)
{
	struct sigaction sa = { .sa_handler = record_signal };

	if (also_blocked != 0)
		sigaddset(&sa.sa_mask, also_blocked);
	sigaction(sig, &sa, NULL);
	norder = 0;
}

static sigset_t
set_of(int a, int b)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, a);
	if (b != 0)
		sigaddset(&set, b);
	return set;
}

static void
change_mask(int how, int a, int b)
{
	sigset_t set = set_of(a, b);

	EXPECT_EQ(sigprocmask(how, &set, NULL), 0);
}

TEST(a_blocked_signal_stays_pending)
{
	sigset_t pending;

	install_handler(SIGUSR1, 0);
	change_mask(SIG_BLOCK, SIGUSR1, 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	EXPECT_EQ(norder, 0);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT_EQ(sigismember(&pending, SIGUSR1), 1);
	EXPECT_EQ(sigismember(&pending, SIGUSR2), 0);
	change_mask(SIG_UNBLOCK, SIGUSR1, 0);
	EXPECT_EQ(norder, 1); /* a standard signal does not queue */
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT_EQ(sigismember(&pending, SIGUSR1), 0);
}

TEST(real_time_signals_queue)
{
	install_handler(SIGRTMIN, 0);
	change_mask(SIG_BLOCK, SIGRTMIN, 0);
	for (int i = 0; i < 7; i++)
		raise(SIGRTMIN);
	change_mask(SIG_UNBLOCK, SIGRTMIN, 0);
	EXPECT_EQ(norder, 7);
}

/* A frame for each signal, lowest first: the last one's handler is first. */
TEST(all_pending_signals_are_delivered)
{
	install_handler(SIGUSR2, 0);
	install_handler(SIGUSR1, 0);
	change_mask(SIG_BLOCK, SIGUSR1, SIGUSR2);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGUSR1);
	change_mask(SIG_UNBLOCK, SIGUSR1, SIGUSR2);
	EXPECT_EQ(norder, 2);
	EXPECT_EQ(order[0], SIGUSR2);
	EXPECT_EQ(order[1], SIGUSR1);
}

TEST(the_handler_runs_with_its_mask_and_the_old_one_comes_back)
{
	sigset_t now;

	install_handler(SIGUSR1, SIGTERM);
	raise(SIGUSR1);
	EXPECT_EQ(sigismember(&in_handler, SIGUSR1), 1);
	EXPECT_EQ(sigismember(&in_handler, SIGTERM), 1);
	EXPECT_EQ(sigismember(&in_handler, SIGUSR2), 0);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT_EQ(sigismember(&now, SIGUSR1), 0);
	EXPECT_EQ(sigismember(&now, SIGTERM), 0);
}

TEST(ignoring_discards_a_pending_signal)
{
	sigset_t pending;

	change_mask(SIG_BLOCK, SIGTERM, 0);
	raise(SIGTERM);
	signal(SIGTERM, SIG_IGN);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT_EQ(sigismember(&pending, SIGTERM), 0);
	signal(SIGTERM, SIG_DFL);
	change_mask(SIG_UNBLOCK, SIGTERM, 0); /* else it ends the program */
}

TEST(kill_and_stop_cannot_be_blocked)
{
	sigset_t now;

	change_mask(SIG_BLOCK, SIGKILL, SIGSTOP);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT_EQ(sigismember(&now, SIGKILL), 0);
	EXPECT_EQ(sigismember(&now, SIGSTOP), 0);
}

TEST(sigsuspend_takes_a_pending_signal_and_restores_the_mask)
{
	sigset_t none, now;

	install_handler(SIGUSR1, 0);
	change_mask(SIG_BLOCK, SIGUSR1, 0);
	raise(SIGUSR1);
	sigemptyset(&none);
	EXPECT_ERRNO(sigsuspend(&none), EINTR);
	EXPECT_EQ(norder, 1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
	change_mask(SIG_UNBLOCK, SIGUSR1, 0);
}

TEST(sigtimedwait_takes_a_signal_without_a_handler)
{
	struct timespec none = { 0, 0 }, ms = { 0, 1000000 };
	sigset_t set = set_of(SIGUSR1, SIGRTMIN);
	siginfo_t si;

	install_handler(SIGUSR1, 0);
	change_mask(SIG_BLOCK, SIGUSR1, SIGRTMIN);
	EXPECT_ERRNO(sigtimedwait(&set, &si, &none), EAGAIN);
	EXPECT_ERRNO(sigtimedwait(&set, &si, &ms), EAGAIN);
	kill(getpid(), SIGUSR1);
	EXPECT_EQ(sigtimedwait(&set, &si, &none), SIGUSR1);
	EXPECT_EQ(si.si_signo, SIGUSR1);
	EXPECT_EQ(si.si_code, SI_USER);
	EXPECT_EQ(si.si_pid, getpid());
	sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 17 });
	EXPECT_EQ(sigwaitinfo(&set, &si), SIGRTMIN);
	EXPECT_EQ(si.si_value.sival_int, 17);
	EXPECT_EQ(norder, 0);
	change_mask(SIG_UNBLOCK, SIGUSR1, SIGRTMIN);
	EXPECT_EQ(norder, 0);
}

static void *
take_signal(void *got)
{
	struct timespec while_ = { 0, 50000000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	int64_t then = test_now_ns();
	*(int *)got = sigtimedwait(&set, NULL, &while_);
	/* It ended before its time limit. */
	EXPECT(test_now_ns() - then < while_.tv_nsec);
	/* An LWP's end makes others look for signals: do not end yet. */
	nanosleep(&while_, NULL);
	return NULL;
}

static volatile bool over;

static void *
spin_until_over(void *arg)
{
	while (!over)
		;
	return arg;
}

/*
 * Two LWPs wait and two signals come: each LWP takes one.  All run on one CPU
 * with an LWP that spins.  This LWP is woken by a timeout, so the LWPs that it
 * wakes do not preempt it.  It sends both signals before either LWP runs.
 */
TEST(each_sigtimedwait_takes_one)
{
	int got[2] = { 0, 0 };
	pthread_t t[2], runner;
	sigset_t set;

	processor_bind(P_PID, P_MYID, 0, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 2; i++)
		REQUIRE(pthread_create(&t[i], NULL, take_signal, &got[i]) == 0);
	REQUIRE(pthread_create(&runner, NULL, spin_until_over, NULL) == 0);
	usleep(2000);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(kill(getpid(), SIGRTMIN), 0);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
		EXPECT_EQ(got[i], SIGRTMIN);
	}
	over = true;
	EXPECT_EQ(pthread_join(runner, NULL), 0);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	processor_bind(P_PID, P_MYID, PBIND_NONE, NULL);
}

/* A pending signal that is ignored does not end sigsuspend(2). */
TEST(sigsuspend_waits_for_a_handler)
{
	struct itimerval ms = { { 0, 0 }, { 0, 1000 } };
	sigset_t none;

	sigemptyset(&none);
	install_handler(SIGALRM, 0);
	change_mask(SIG_BLOCK, SIGALRM, SIGWINCH);
	raise(SIGWINCH);
	EXPECT_EQ(setitimer(ITIMER_REAL, &ms, NULL), 0);
	EXPECT_ERRNO(sigsuspend(&none), EINTR);
	EXPECT_EQ(norder, 1);
	EXPECT_EQ(order[0], SIGALRM);
	change_mask(SIG_UNBLOCK, SIGALRM, SIGWINCH);
	EXPECT_EQ(norder, 1);
}

static void
edit_mask(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	sigaddset(&uc->uc_sigmask, SIGUSR2);
	sigaddset(&uc->uc_sigmask, SIGKILL);
}

TEST(a_mask_edited_in_the_frame_takes_effect)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };
	sigset_t now;

	sa.sa_sigaction = edit_mask;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT_EQ(sigismember(&now, SIGUSR2), 1);
	EXPECT_EQ(sigismember(&now, SIGKILL), 0);
	EXPECT_EQ(sigismember(&now, SIGUSR1), 0);
	change_mask(SIG_UNBLOCK, SIGUSR2, 0);
}
