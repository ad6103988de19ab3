/*
 * A blocked signal waits, and arrives when the mask lets it; whoever waits
 * for it in sigtimedwait() or sigsuspend() gets it there.  What waits is kept
 * once for a standard signal, each time for a real-time one.
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

TEST_KEEPS(64); /* what the C library keeps of threads */

static volatile int order[32], norder;
static sigset_t in_handler;

static void
handler(int sig)
{
	if (norder < 32)
		order[norder++] = sig;
	sigprocmask(SIG_SETMASK, NULL, &in_handler);
}

static void
install(int sig, int also_blocked)
{
	struct sigaction sa = { .sa_handler = handler };

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
block(int how, int a, int b)
{
	sigset_t set = set_of(a, b);

	EXPECT_EQ(sigprocmask(how, &set, NULL), 0);
}

TEST(a_blocked_signal_waits)
{
	sigset_t pending;

	install(SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1, 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	EXPECT_EQ(norder, 0);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT_EQ(sigismember(&pending, SIGUSR1), 1);
	EXPECT_EQ(sigismember(&pending, SIGUSR2), 0);
	block(SIG_UNBLOCK, SIGUSR1, 0);
	EXPECT_EQ(norder, 1); /* a standard signal does not queue */
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT_EQ(sigismember(&pending, SIGUSR1), 0);
}

TEST(real_time_signals_queue)
{
	int i;

	install(SIGRTMIN, 0);
	block(SIG_BLOCK, SIGRTMIN, 0);
	for (i = 0; i < 7; i++)
		raise(SIGRTMIN);
	block(SIG_UNBLOCK, SIGRTMIN, 0);
	EXPECT_EQ(norder, 7);
}

/* Each lets the next in at once, so that the last made runs first. */
TEST(all_that_wait_are_delivered)
{
	install(SIGUSR2, 0);
	install(SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1, SIGUSR2);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGUSR1);
	block(SIG_UNBLOCK, SIGUSR1, SIGUSR2);
	EXPECT_EQ(norder, 2);
	EXPECT_EQ(order[0], SIGUSR2);
	EXPECT_EQ(order[1], SIGUSR1);
}

TEST(the_handler_runs_with_its_mask_and_the_old_one_comes_back)
{
	sigset_t now;

	install(SIGUSR1, SIGTERM);
	raise(SIGUSR1);
	EXPECT_EQ(sigismember(&in_handler, SIGUSR1), 1);
	EXPECT_EQ(sigismember(&in_handler, SIGTERM), 1);
	EXPECT_EQ(sigismember(&in_handler, SIGUSR2), 0);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT_EQ(sigismember(&now, SIGUSR1), 0);
	EXPECT_EQ(sigismember(&now, SIGTERM), 0);
}

TEST(ignoring_forgets_what_waits)
{
	sigset_t pending;

	block(SIG_BLOCK, SIGTERM, 0);
	raise(SIGTERM);
	signal(SIGTERM, SIG_IGN);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT_EQ(sigismember(&pending, SIGTERM), 0);
	signal(SIGTERM, SIG_DFL);
	block(SIG_UNBLOCK, SIGTERM, 0); /* or this would be the end */
}

TEST(kill_and_stop_cannot_be_blocked)
{
	sigset_t now;

	block(SIG_BLOCK, SIGKILL, SIGSTOP);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT_EQ(sigismember(&now, SIGKILL), 0);
	EXPECT_EQ(sigismember(&now, SIGSTOP), 0);
}

TEST(sigsuspend_takes_what_waits_and_restores_the_mask)
{
	sigset_t none, now;

	install(SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1, 0);
	raise(SIGUSR1);
	sigemptyset(&none);
	EXPECT_ERRNO(sigsuspend(&none), EINTR);
	EXPECT_EQ(norder, 1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
	block(SIG_UNBLOCK, SIGUSR1, 0);
}

TEST(sigtimedwait_takes_it_without_a_handler)
{
	struct timespec none = { 0, 0 }, ms = { 0, 1000000 };
	sigset_t set = set_of(SIGUSR1, SIGRTMIN);
	siginfo_t si;

	install(SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1, SIGRTMIN);
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
	block(SIG_UNBLOCK, SIGUSR1, SIGRTMIN);
	EXPECT_EQ(norder, 0);
}

static void *
waits_a_while(void *got)
{
	struct timespec while_ = { 0, 50000000 }, then, now;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	clock_gettime(CLOCK_MONOTONIC, &then);
	*(int *)got = sigtimedwait(&set, NULL, &while_);
	clock_gettime(CLOCK_MONOTONIC, &now);
	/* Not only when its time was over. */
	EXPECT((now.tv_sec - then.tv_sec) * 1000000000 + now.tv_nsec -
		   then.tv_nsec <
	       while_.tv_nsec);
	/* One that ends looks who else might take what is there. */
	nanosleep(&while_, NULL);
	return NULL;
}

static volatile bool over;

static void *
runs(void *arg)
{
	while (!over)
		;
	return arg;
}

/*
 * Two signals for two that wait: one is not left over.  Whoever is woken where
 * another runs is not interrupted by those it wakes: they are told of both
 * signals before either of them runs.
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
		REQUIRE(
		    pthread_create(&t[i], NULL, waits_a_while, &got[i]) == 0);
	REQUIRE(pthread_create(&runner, NULL, runs, NULL) == 0);
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

/* What is pending and means nothing is not what sigsuspend() waits for. */
TEST(sigsuspend_waits_for_a_handler)
{
	struct itimerval ms = { { 0, 0 }, { 0, 1000 } };
	sigset_t none;

	sigemptyset(&none);
	install(SIGALRM, 0);
	block(SIG_BLOCK, SIGALRM, SIGWINCH);
	raise(SIGWINCH);
	EXPECT_EQ(setitimer(ITIMER_REAL, &ms, NULL), 0);
	EXPECT_ERRNO(sigsuspend(&none), EINTR);
	EXPECT_EQ(norder, 1);
	EXPECT_EQ(order[0], SIGALRM);
	block(SIG_UNBLOCK, SIGALRM, SIGWINCH);
	EXPECT_EQ(norder, 1);
}

static void
edits_mask(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)si;
	sigaddset(&uc->uc_sigmask, SIGUSR2);
	sigaddset(&uc->uc_sigmask, SIGKILL);
}

TEST(a_mask_edited_in_the_frame_is_the_mask_after_it)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };
	sigset_t now;

	sa.sa_sigaction = edits_mask;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT_EQ(sigismember(&now, SIGUSR2), 1);
	EXPECT_EQ(sigismember(&now, SIGKILL), 0);
	EXPECT_EQ(sigismember(&now, SIGUSR1), 0);
	block(SIG_UNBLOCK, SIGUSR2, 0);
}
