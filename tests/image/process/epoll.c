/* epoll(7), eventfd(2): what is reported, how often, how long a wait is. */
#define _GNU_SOURCE /* syscall() */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64); /* the C library keeps stacks of threads */

static int
add(int set, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events,
		.data.u64 = 0x123456789000u + (unsigned)fd };

	return epoll_ctl(set, EPOLL_CTL_ADD, fd, &e);
}

/* The events of fd, if it is the only one of the set; 0 without any. */
static uint32_t
reported(int set, int fd)
{
	struct epoll_event e[4];
	int n = epoll_wait(set, e, 4, 0);

	if (n != 1)
		return n == 0 ? 0 : ~0U;
	EXPECT_EQ(e[0].data.u64, 0x123456789000u + (unsigned)fd);
	return e[0].events;
}

TEST(a_pipe_is_reported_as_long_as_it_is_ready)
{
	int p[2], set = epoll_create1(EPOLL_CLOEXEC);
	char c;

	REQUIRE(set >= 0 && pipe(p) == 0);
	EXPECT_EQ(fcntl(set, F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(add(set, p[0], EPOLLIN), 0);
	EXPECT_EQ(reported(set, p[0]), 0);
	EXPECT_EQ(write(p[1], "xy", 2), 2);
	EXPECT_EQ(reported(set, p[0]), EPOLLIN);
	EXPECT_EQ(read(p[0], &c, 1), 1);
	EXPECT_EQ(reported(set, p[0]), EPOLLIN);
	EXPECT_EQ(read(p[0], &c, 1), 1);
	EXPECT_EQ(reported(set, p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
	EXPECT_EQ(reported(set, p[0]), EPOLLHUP);
	/* The set drops a file that is closed. */
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(reported(set, p[0]), 0);
	EXPECT_EQ(close(set), 0);
}

TEST(an_edge_is_reported_once)
{
	int p[2], set = epoll_create(1);

	REQUIRE(set >= 0 && pipe(p) == 0);
	EXPECT_EQ(write(p[1], "x", 1), 1);
	EXPECT_EQ(add(set, p[0], EPOLLIN | EPOLLET), 0);
	EXPECT_EQ(reported(set, p[0]), EPOLLIN);
	EXPECT_EQ(reported(set, p[0]), 0);
	EXPECT_EQ(write(p[1], "x", 1), 1);
	EXPECT_EQ(reported(set, p[0]), EPOLLIN);
	EXPECT_EQ(reported(set, p[0]), 0);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
	EXPECT_EQ(close(set), 0);
}

TEST(one_shot_until_it_is_changed)
{
	struct epoll_event e = { .events = EPOLLOUT };
	int p[2], set = epoll_create1(0);

	REQUIRE(set >= 0 && pipe(p) == 0);
	EXPECT_EQ(add(set, p[1], EPOLLOUT | EPOLLONESHOT), 0);
	EXPECT_EQ(reported(set, p[1]), EPOLLOUT);
	EXPECT_EQ(reported(set, p[1]), 0);
	e.data.u64 = 0x123456789000u + (unsigned)p[1];
	EXPECT_EQ(epoll_ctl(set, EPOLL_CTL_MOD, p[1], &e), 0);
	EXPECT_EQ(reported(set, p[1]), EPOLLOUT);
	EXPECT_EQ(reported(set, p[1]), EPOLLOUT);
	EXPECT_EQ(epoll_ctl(set, EPOLL_CTL_DEL, p[1], NULL), 0);
	EXPECT_EQ(reported(set, p[1]), 0);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
	EXPECT_EQ(close(set), 0);
}

/* With room for one event, each of two ready files has its turn. */
TEST(all_have_their_turn)
{
	int p[2], q[2], set = epoll_create1(0);
	struct epoll_event e[2];

	REQUIRE(set >= 0 && pipe(p) == 0 && pipe(q) == 0);
	EXPECT_EQ(add(set, p[1], EPOLLOUT), 0);
	EXPECT_EQ(add(set, q[1], EPOLLOUT), 0);
	EXPECT_EQ(epoll_wait(set, &e[0], 1, -1), 1);
	EXPECT_EQ(epoll_wait(set, &e[1], 1, -1), 1);
	EXPECT(e[0].data.u64 != e[1].data.u64);
	EXPECT_EQ(epoll_wait(set, e, 2, -1), 2);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(close(p[i]), 0);
		EXPECT_EQ(close(q[i]), 0);
	}
	EXPECT_EQ(close(set), 0);
}

TEST(errors)
{
	int p[2], set = epoll_create1(0), file = open("/dev/null", O_RDWR);
	struct epoll_event e;

	REQUIRE(set >= 0 && pipe(p) == 0);
	EXPECT_ERRNO(epoll_create1(1), EINVAL);
	EXPECT_ERRNO(add(set, 60, EPOLLIN), EBADF);
	EXPECT_ERRNO(add(60, set, EPOLLIN), EBADF);
	EXPECT_ERRNO(add(set, set, EPOLLIN), EINVAL);
	EXPECT_ERRNO(add(p[0], p[1], EPOLLIN), EINVAL);
	EXPECT_ERRNO(add(set, file, EPOLLIN), EPERM);
	EXPECT_ERRNO(epoll_ctl(set, EPOLL_CTL_DEL, p[0], NULL), ENOENT);
	EXPECT_ERRNO(epoll_ctl(set, EPOLL_CTL_MOD, p[0], &e), ENOENT);
	EXPECT_ERRNO(epoll_ctl(set, EPOLL_CTL_ADD, p[0], (void *)8), EFAULT);
	EXPECT_EQ(add(set, p[0], EPOLLIN), 0);
	EXPECT_ERRNO(add(set, p[0], EPOLLIN), EEXIST);
	EXPECT_ERRNO(epoll_ctl(set, 4, p[0], &e), EINVAL);
	EXPECT_ERRNO(epoll_wait(set, &e, 0, 0), EINVAL);
	EXPECT_ERRNO(epoll_wait(p[0], &e, 1, 0), EINVAL);
	EXPECT_ERRNO(epoll_wait(60, &e, 1, 0), EBADF);
	EXPECT_EQ(write(p[1], "x", 1), 1);
	EXPECT_ERRNO(epoll_wait(set, (void *)8, 1, 0), EFAULT);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
	EXPECT_EQ(close(file), 0);
	EXPECT_EQ(close(set), 0);
}

static void *
write_later(void *fd)
{
	const uint64_t one = 1;

	usleep(20000);
	EXPECT_EQ(write(*(int *)fd, &one, sizeof one), (long)sizeof one);
	return NULL;
}

TEST(a_wait_ends_by_time_or_event)
{
	int fd = eventfd(0, 0), set = epoll_create1(0);
	int64_t begin = test_now_ns();
	uint64_t count;
	struct epoll_event e;
	pthread_t thread;

	REQUIRE(fd >= 0 && set >= 0);
	EXPECT_EQ(add(set, fd, EPOLLIN), 0);
	EXPECT_EQ(epoll_wait(set, &e, 1, 20), 0);
	EXPECT(test_now_ns() - begin >= 20000000);
	REQUIRE(pthread_create(&thread, NULL, write_later, &fd) == 0);
	EXPECT_EQ(epoll_wait(set, &e, 1, -1), 1);
	EXPECT_EQ(read(fd, &count, sizeof count), (long)sizeof count);
	EXPECT_EQ(count, 1);
	pthread_join(thread, NULL);
	/* A read sleeps, too. */
	REQUIRE(pthread_create(&thread, NULL, write_later, &fd) == 0);
	EXPECT_EQ(read(fd, &count, sizeof count), (long)sizeof count);
	EXPECT_EQ(count, 1);
	pthread_join(thread, NULL);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(close(set), 0);
}

static int
wait2(int set, struct epoll_event *e, const void *time, const void *mask)
{
	return (int)syscall(SYS_epoll_pwait2, set, e, 1, time, mask, 8);
}

/* 0.3 ms is a time that epoll_wait(2) cannot express. */
TEST(a_wait_of_nanoseconds)
{
	const struct timespec brief = { 0, 300000 }, none = { 0, 0 };
	int fd = eventfd(0, 0), set = epoll_create1(0);
	struct epoll_event e;
	pthread_t thread;

	REQUIRE(fd >= 0 && set >= 0);
	EXPECT_EQ(add(set, fd, EPOLLIN), 0);
	int64_t begin = test_now_ns();
	EXPECT_EQ(wait2(set, &e, &brief, NULL), 0);
	EXPECT(test_now_ns() - begin >= brief.tv_nsec);
	EXPECT_EQ(wait2(set, &e, &none, NULL), 0);
	REQUIRE(pthread_create(&thread, NULL, write_later, &fd) == 0);
	EXPECT_EQ(wait2(set, &e, NULL, NULL), 1);
	EXPECT_EQ(e.data.u64, 0x123456789000u + (unsigned)fd);
	pthread_join(thread, NULL);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(close(set), 0);
}

/* A pending signal that only the wait's mask admits ends it. */
TEST(a_wait_with_a_mask)
{
	const uint64_t nothing = 0;
	int set = epoll_create1(0);
	struct epoll_event e;
	sigset_t usr1;

	REQUIRE(set >= 0);
	signal(SIGUSR1, test_note_signal);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	raise(SIGUSR1);
	EXPECT_EQ(test_last_signal, 0);
	EXPECT_ERRNO(wait2(set, &e, NULL, &nothing), EINTR);
	EXPECT_EQ(test_last_signal, SIGUSR1);
	/* It is blocked again. */
	test_last_signal = 0;
	raise(SIGUSR1);
	EXPECT_EQ(test_last_signal, 0);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	EXPECT_EQ(test_last_signal, SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	EXPECT_EQ(close(set), 0);
}

TEST(errors_of_epoll_pwait2)
{
	const struct timespec negative = { -1, 0 }, large = { 0, 1000000000 };
	const uint64_t nothing = 0;
	int set = epoll_create1(0);
	struct epoll_event e;

	REQUIRE(set >= 0);
	EXPECT_ERRNO(wait2(set, &e, &negative, NULL), EINVAL);
	EXPECT_ERRNO(wait2(set, &e, &large, NULL), EINVAL);
	EXPECT_ERRNO(wait2(set, &e, (void *)8, NULL), EFAULT);
	EXPECT_ERRNO(wait2(set, &e, NULL, (void *)8), EFAULT);
	EXPECT_ERRNO(wait2(60, &e, NULL, NULL), EBADF);
	EXPECT_ERRNO(
	    syscall(SYS_epoll_pwait2, set, &e, 0, NULL, NULL, 8), EINVAL);
	EXPECT_ERRNO(
	    syscall(SYS_epoll_pwait2, set, &e, 1, NULL, &nothing, 4), EINVAL);
	EXPECT_EQ(close(set), 0);
}

TEST(an_event_counts)
{
	uint64_t n = 3, most = UINT64_MAX - 1;
	int fd = eventfd(2, EFD_NONBLOCK | EFD_CLOEXEC);
	struct stat st;

	REQUIRE(fd >= 0);
	EXPECT_EQ(write(fd, &n, sizeof n), (long)sizeof n);
	EXPECT_EQ(read(fd, &n, sizeof n), (long)sizeof n);
	EXPECT_EQ(n, 5);
	EXPECT_ERRNO(read(fd, &n, sizeof n), EAGAIN);
	EXPECT_EQ(write(fd, &most, sizeof most), (long)sizeof most);
	EXPECT_ERRNO(write(fd, &n, sizeof n), EAGAIN);
	EXPECT_ERRNO(read(fd, &n, 4), EINVAL);
	EXPECT_ERRNO(write(fd, &n, 4), EINVAL);
	EXPECT_ERRNO(write(fd, (void *)8, 8), EFAULT);
	most = UINT64_MAX;
	EXPECT_ERRNO(write(fd, &most, sizeof most), EINVAL);
	EXPECT_ERRNO(lseek(fd, 0, SEEK_SET), ESPIPE);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_ERRNO(eventfd(0, ~0), EINVAL);
	REQUIRE((fd = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK)) >= 0);
	EXPECT_EQ(read(fd, &n, sizeof n), (long)sizeof n);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(read(fd, &n, sizeof n), (long)sizeof n);
	EXPECT_ERRNO(read(fd, &n, sizeof n), EAGAIN);
	EXPECT_EQ(close(fd), 0);
}
