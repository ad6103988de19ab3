/* setitimer(2), alarm(2): SIGALRM when due, as often, to its process. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The C library keeps stacks of threads.  Their page tables stay, too. */
TEST_KEEPS(64);

static volatile int calls;
static int64_t last;

static void
count_alarm(int sig)
{
	last = test_now_ns();
	calls++;
}

static void
install_handler(void)
{
	struct sigaction sa = { .sa_flags = 0 };

	sa.sa_handler = count_alarm;
	EXPECT_EQ(sigaction(SIGALRM, &sa, NULL), 0);
	calls = 0;
}

static int
set_timer(long every_us, long first_us)
{
	struct itimerval it = { { 0, every_us }, { 0, first_us } };

	return setitimer(ITIMER_REAL, &it, NULL);
}

/* The signal is blocked until the wait, however long the way there takes. */
TEST(an_alarm_comes_once)
{
	int64_t before = test_now_ns();
	sigset_t alarms, none;

	install_handler();
	sigemptyset(&none);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarms, NULL);
	EXPECT_EQ(set_timer(0, 1000), 0);
	EXPECT_ERRNO(sigsuspend(&none), EINTR);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	EXPECT_EQ(calls, 1);
	EXPECT(last - before >= 1000000);
	usleep(3000);
	EXPECT_EQ(calls, 1);
}

/* The alarm also interrupts a loop without system calls. */
TEST(an_alarm_repeats)
{
	int64_t before = test_now_ns();

	install_handler();
	EXPECT_EQ(set_timer(1000, 500), 0);
	while (calls < 10)
		;
	EXPECT_EQ(set_timer(0, 0), 0);
	EXPECT(last - before >= 9500000);
	usleep(3000);
	EXPECT(calls <= 11); /* one may have come before the timer stopped */
}

static volatile bool ended;

static void *
sleep_until_ended(void *arg)
{
	while (!ended)
		usleep(10000);
	return arg;
}

/*
 * 200 LWPs block SIGALRM, and asking each of them takes the kernel longer than
 * the interval.  The kernel still makes progress.  Once the signal is
 * unblocked, it comes again and again.
 */
TEST(an_interval_shorter_than_the_delivery)
{
	sigset_t alarms;
	pthread_t t[200];
	int n = sizeof t / sizeof *t;

	install_handler();
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	ended = false;
	for (int i = 0; i < n; i++)
		EXPECT_EQ(
		    pthread_create(&t[i], NULL, sleep_until_ended, NULL), 0);
	EXPECT_EQ(set_timer(1, 1), 0);
	usleep(3000);
	EXPECT_EQ(calls, 0);
	EXPECT_EQ(set_timer(2000, 1), 0);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	while (calls < 3)
		;
	EXPECT_EQ(set_timer(0, 0), 0);
	ended = true;
	for (int i = 0; i < n; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
}

TEST(the_time_left_is_reported)
{
	struct itimerval it;

	install_handler();
	EXPECT_EQ(set_timer(2000, 500000), 0);
	EXPECT_EQ(getitimer(ITIMER_REAL, &it), 0);
	EXPECT_EQ(it.it_interval.tv_usec, 2000);
	EXPECT(it.it_value.tv_sec == 0 && it.it_value.tv_usec <= 500000);
	EXPECT(it.it_value.tv_usec > 400000);
	EXPECT_EQ(alarm(100), 1);
	EXPECT_EQ(getitimer(ITIMER_REAL, &it), 0);
	EXPECT_EQ(it.it_interval.tv_usec, 0);
	EXPECT_EQ(it.it_value.tv_sec, 99);
	EXPECT_EQ(alarm(0), 100);
	EXPECT_EQ(alarm(0), 0);
	EXPECT_EQ(calls, 0);
}

TEST(a_child_has_no_timer)
{
	struct itimerval it = { { 1, 1 }, { 1, 1 } };
	pid_t child;

	install_handler();
	EXPECT_EQ(alarm(1000), 0);
	if ((child = fork()) == 0) {
		getitimer(ITIMER_REAL, &it);
		_exit(it.it_value.tv_sec != 0 || it.it_interval.tv_sec != 0);
	}
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_EQ(alarm(0), 1000);
}

/* The default action ends the process, and its timer ends with it. */
TEST(by_default_an_alarm_ends_the_process)
{
	pid_t child;

	if ((child = fork()) == 0) {
		signal(SIGALRM, SIG_DFL);
		set_timer(1000, 1000);
		for (;;)
			pause();
	}
	EXPECT_EQ(test_wait_status(child), SIGALRM);
}

TEST(wrong_arguments)
{
	struct itimerval it = { { 0, 0 }, { 0, 1000000 } };

	EXPECT_ERRNO(setitimer(ITIMER_REAL, &it, NULL), EINVAL);
	it.it_value.tv_usec = -1;
	EXPECT_ERRNO(setitimer(ITIMER_REAL, &it, NULL), EINVAL);
	it.it_value.tv_usec = 0;
	EXPECT_ERRNO(setitimer(77, &it, NULL), EINVAL);
	EXPECT_ERRNO(getitimer(77, &it), EINVAL);
	EXPECT_ERRNO(setitimer(ITIMER_REAL, (void *)8, NULL), EFAULT);
	EXPECT_ERRNO(getitimer(ITIMER_REAL, (void *)8), EFAULT);
}
