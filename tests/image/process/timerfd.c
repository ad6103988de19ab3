/*
 * timerfd_create(2): when a timer expires, how often a read says it has, and
 * what wakes up.
 *
 * The number of expirations is exact between two bounds, which come from the
 * clock before and after the calls.
 */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64); /* the C library keeps stacks of threads */

#define MS 1000000LL

static struct timespec
to_timespec(int64_t ns)
{
	return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

static int64_t
to_ns(struct timespec ts)
{
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int
set(int fd, int flags, int64_t first, int64_t every)
{
	const struct itimerspec it = { to_timespec(every), to_timespec(first) };

	return timerfd_settime(fd, flags, &it, NULL);
}

/* ns until it expires next; 0: never. */
static int64_t
left(int fd)
{
	struct itimerspec it = { { 9, 9 }, { 9, 9 } };

	EXPECT_EQ(timerfd_gettime(fd, &it), 0);
	return to_ns(it.it_value);
}

/* The count that a read gets, or -1. */
static int64_t
count(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof n) == sizeof n ? (int64_t)n : -1;
}

static short
polled(int fd, int ms)
{
	struct pollfd p = { fd, POLLIN | POLLOUT, 0 };

	return poll(&p, 1, ms) >= 0 ? p.revents : -1;
}

TEST(once)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	REQUIRE(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(left(fd), 0);
	EXPECT_EQ(polled(fd, 0), 0);
	EXPECT_ERRNO(count(fd), EAGAIN);
	int64_t begin = test_now_ns();
	EXPECT_EQ(set(fd, 0, 20 * MS, 0), 0);
	int64_t ns = left(fd);
	EXPECT(ns > 0 && ns <= 20 * MS);
	EXPECT_ERRNO(count(fd), EAGAIN);
	EXPECT_EQ(polled(fd, -1), POLLIN);
	EXPECT(test_now_ns() >= begin + 20 * MS);
	EXPECT_EQ(left(fd), 0);
	EXPECT_EQ(count(fd), 1);
	EXPECT_ERRNO(count(fd), EAGAIN);
	EXPECT_EQ(polled(fd, 0), 0);
	EXPECT_EQ(close(fd), 0);
}

/* set_at, read_at: the clock before and after the call. */
static void
expect_count(int64_t n, const int64_t set_at[2], const int64_t read_at[2],
    int64_t first, int64_t every)
{
	int64_t least = (read_at[0] - set_at[1] - first) / every + 1;
	int64_t most = (read_at[1] - set_at[0] - first) / every + 1;

	if (!EXPECT(n >= least && n <= most))
		test_note("%lld, not %lld to %lld", (long long)n,
		    (long long)least, (long long)most);
}

TEST(again_and_again)
{
	int fd = timerfd_create(CLOCK_BOOTTIME, 0);
	int64_t set_at[2], read_at[2], n, ns;

	REQUIRE(fd >= 0);
	set_at[0] = test_now_ns();
	EXPECT_EQ(set(fd, 0, 3 * MS, 5 * MS), 0);
	set_at[1] = test_now_ns();
	usleep(24000);
	ns = left(fd);
	EXPECT(ns > 0 && ns <= 5 * MS);
	read_at[0] = test_now_ns();
	n = count(fd);
	read_at[1] = test_now_ns();
	expect_count(n, set_at, read_at, 3 * MS, 5 * MS);
	/* The next read waits for the next expiration. */
	EXPECT(count(fd) >= 1);
	EXPECT(test_now_ns() >= set_at[0] + 3 * MS + n * 5 * MS);
	EXPECT_EQ(close(fd), 0);
}

/* An interval of a nanosecond keeps no CPU busy, and no count is lost. */
TEST(the_shortest_interval)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec it;

	REQUIRE(fd >= 0);
	EXPECT_EQ(set(fd, 0, 1, 1), 0);
	usleep(2000);
	EXPECT(count(fd) >= 1000);
	EXPECT(count(fd) >= 1);
	EXPECT_EQ(timerfd_gettime(fd, &it), 0);
	EXPECT_EQ(to_ns(it.it_interval), 1);
	EXPECT(to_ns(it.it_value) >= 1);
	EXPECT_EQ(close(fd), 0);
}

TEST(an_absolute_time)
{
	int fd = timerfd_create(CLOCK_REALTIME, 0);
	int64_t set_at[2], read_at[2], n, at = test_now_ns() + 10 * MS;

	REQUIRE(fd >= 0);
	EXPECT_EQ(set(fd, TFD_TIMER_ABSTIME, at, 0), 0);
	EXPECT_EQ(count(fd), 1);
	EXPECT(test_now_ns() >= at);
	/* A time that has passed counts from then on. */
	EXPECT_EQ(
	    set(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, at, MS), 0);
	set_at[0] = set_at[1] = at;
	read_at[0] = test_now_ns();
	n = count(fd);
	read_at[1] = test_now_ns();
	expect_count(n, set_at, read_at, 0, MS);
	EXPECT_EQ(close(fd), 0);
}

TEST(the_old_time_and_no_time)
{
	const struct itimerspec none = { { 7, 0 }, { 0, 0 } };
	struct itimerspec old;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

	REQUIRE(fd >= 0);
	EXPECT_EQ(set(fd, 0, 40 * MS, 30 * MS), 0);
	EXPECT_EQ(timerfd_settime(fd, 0, &none, &old), 0);
	EXPECT_EQ(to_ns(old.it_interval), 30 * MS);
	EXPECT(to_ns(old.it_value) > 0 && to_ns(old.it_value) <= 40 * MS);
	EXPECT_EQ(left(fd), 0);
	/* An expiration that was not read is forgotten. */
	EXPECT_EQ(set(fd, 0, 1, 0), 0);
	EXPECT_EQ(polled(fd, -1), POLLIN);
	EXPECT_EQ(set(fd, 0, 1000000 * MS, 0), 0);
	EXPECT_EQ(polled(fd, 0), 0);
	EXPECT_EQ(timerfd_settime(fd, 0, &none, NULL), 0);
	EXPECT_EQ(polled(fd, 0), 0);
	EXPECT_EQ(close(fd), 0);
}

/* The longest time that fits is later than every clock. */
TEST(the_longest_time)
{
	const struct itimerspec it = { { INT64_MAX, 999999999 },
		{ INT64_MAX, 999999999 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

	REQUIRE(fd >= 0);
	EXPECT_EQ(timerfd_settime(fd, 0, &it, NULL), 0);
	EXPECT(left(fd) > 1000000 * MS);
	EXPECT_ERRNO(count(fd), EAGAIN);
	/* Its interval is added to a time that has passed. */
	EXPECT_EQ(timerfd_settime(fd, 0,
		      &(struct itimerspec){ it.it_interval, { 0, 1 } }, NULL),
	    0);
	EXPECT_EQ(polled(fd, -1), POLLIN);
	EXPECT_EQ(count(fd), 1);
	EXPECT_EQ(polled(fd, 0), 0);
	EXPECT(left(fd) > 1000000 * MS);
	EXPECT_EQ(close(fd), 0);
}

TEST(in_a_set_of_epoll)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0), ep = epoll_create1(0);
	int64_t begin = test_now_ns();

	REQUIRE(fd >= 0 && ep >= 0);
	EXPECT_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	EXPECT_EQ(epoll_wait(ep, &e, 1, 0), 0);
	EXPECT_EQ(set(fd, 0, 10 * MS, 0), 0);
	EXPECT_EQ(epoll_wait(ep, &e, 1, -1), 1);
	EXPECT_EQ(e.events, EPOLLIN);
	EXPECT(test_now_ns() >= begin + 10 * MS);
	/* The edge is reported once, though the count was not read. */
	EXPECT_EQ(epoll_wait(ep, &e, 1, 0), 0);
	EXPECT_EQ(set(fd, 0, 1, 0), 0);
	EXPECT_EQ(epoll_wait(ep, &e, 1, -1), 1);
	EXPECT_EQ(count(fd), 1);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(close(ep), 0);
}

TEST(a_signal_ends_a_read)
{
	struct sigaction sa = { .sa_handler = test_note_signal };
	const struct itimerval alarm_time = { { 0, 0 }, { 0, 10000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	REQUIRE(fd >= 0);
	sigaction(SIGALRM, &sa, NULL);
	EXPECT_EQ(set(fd, 0, 1000000 * MS, 0), 0);
	setitimer(ITIMER_REAL, &alarm_time, NULL);
	EXPECT_ERRNO(count(fd), EINTR);
	signal(SIGALRM, SIG_DFL);
	EXPECT_EQ(close(fd), 0);
}

static void *
read_count(void *fd)
{
	return (void *)(intptr_t)count(*(int *)fd);
}

/* The read has begun when the descriptor is closed, and holds the timer. */
TEST(a_close_during_a_read)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	pthread_t thread;
	void *n;

	REQUIRE(fd >= 0);
	EXPECT_EQ(set(fd, 0, 40 * MS, 0), 0);
	REQUIRE(pthread_create(&thread, NULL, read_count, &fd) == 0);
	usleep(20000);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(pthread_join(thread, &n), 0);
	EXPECT_EQ((intptr_t)n, 1);
}

/* A timer that is set when its file is closed does nothing more. */
TEST(closes_of_set_timers)
{
	for (int i = 0; i < 40; i++)
		EXPECT_EQ(
		    set(timerfd_create(CLOCK_MONOTONIC, 0), 0, 10 * MS, MS), 0);
	for (int fd = 3; fd < 43; fd++)
		EXPECT_EQ(close(fd), 0);
	usleep(20000);
}

/* A forked process has the same timer, which lasts until both close it. */
TEST(of_two_processes)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	pid_t child;

	REQUIRE(fd >= 0);
	EXPECT_EQ(set(fd, 0, 10 * MS, 0), 0);
	if ((child = fork()) == 0)
		_exit(polled(fd, -1) == POLLIN && count(fd) == 1 ? 7 : 1);
	EXPECT_EQ(test_wait_status(child), 7 << 8);
	EXPECT_ERRNO(count(fd), EAGAIN);
	EXPECT_EQ(set(fd, 0, 20 * MS, 0), 0);
	if ((child = fork()) == 0) {
		usleep(40000);
		_exit(count(fd) == 1 ? 7 : 1);
	}
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(test_wait_status(child), 7 << 8);
}

TEST(errors)
{
	int p[2], fd = timerfd_create(CLOCK_MONOTONIC, 0);
	const struct itimerspec it = { { 0, 0 }, { 1, 0 } };
	const struct itimerspec bad[] = { { { 0, 0 }, { -1, 0 } },
		{ { 0, 0 }, { 1, 1000000000 } }, { { 0, -1 }, { 1, 0 } } };
	struct stat st;
	uint64_t n;

	REQUIRE(fd >= 0 && pipe(p) == 0);
	EXPECT_ERRNO(timerfd_create(CLOCK_MONOTONIC, 1), EINVAL);
	EXPECT_ERRNO(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0), EINVAL);
	EXPECT_ERRNO(timerfd_create(-1, 0), EINVAL);
	EXPECT_ERRNO(timerfd_create(8, 0), EPERM); /* CLOCK_REALTIME_ALARM */
	EXPECT_ERRNO(timerfd_create(9, 0), EPERM); /* CLOCK_BOOTTIME_ALARM */
	for (int i = 0; i < 3; i++)
		EXPECT_ERRNO(timerfd_settime(fd, 0, &bad[i], NULL), EINVAL);
	EXPECT_ERRNO(timerfd_settime(fd, 4, &it, NULL), EINVAL);
	EXPECT_ERRNO(timerfd_settime(60, 0, &it, NULL), EBADF);
	EXPECT_ERRNO(timerfd_settime(p[0], 0, &it, NULL), EINVAL);
	EXPECT_ERRNO(timerfd_settime(fd, 0, (void *)8, NULL), EFAULT);
	EXPECT_ERRNO(timerfd_settime(fd, 0, &it, (void *)8), EFAULT);
	EXPECT_ERRNO(timerfd_gettime(60, (void *)8), EBADF);
	EXPECT_ERRNO(timerfd_gettime(p[0], (void *)8), EINVAL);
	EXPECT_ERRNO(timerfd_gettime(fd, (void *)8), EFAULT);
	EXPECT_EQ(left(fd), 0);
	EXPECT_ERRNO(read(fd, &n, 4), EINVAL);
	EXPECT_ERRNO(write(fd, &n, sizeof n), EINVAL);
	EXPECT_ERRNO(lseek(fd, 0, SEEK_SET), ESPIPE);
	EXPECT_ERRNO(pread(fd, &n, sizeof n, 0), ESPIPE);
	EXPECT_EQ(fstat(fd, &st), 0);
	/* A count that could not be copied is not lost. */
	EXPECT_EQ(set(fd, 0, 1, 0), 0);
	EXPECT_ERRNO(read(fd, (void *)8, 8), EFAULT);
	EXPECT_EQ(count(fd), 1);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
}
