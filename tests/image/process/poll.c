/* poll(2), ppoll(2): which descriptors are ready, how long a wait lasts. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64); /* the C library keeps stacks of threads */

static int
poll_one(int fd, short events)
{
	struct pollfd p = { fd, events, -1 };
	int n = poll(&p, 1, 0);

	EXPECT_EQ(n, p.revents != 0);
	return p.revents;
}

TEST(files_are_ready)
{
	int fd = open("/dev/zero", O_RDWR);

	EXPECT_EQ(poll_one(fd, POLLIN), POLLIN);
	EXPECT_EQ(poll_one(fd, POLLIN | POLLOUT), POLLIN | POLLOUT);
	EXPECT_EQ(
	    poll_one(fd, POLLRDNORM | POLLWRNORM), POLLRDNORM | POLLWRNORM);
	EXPECT_EQ(poll_one(fd, 0), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(poll_one(fd, POLLIN), POLLNVAL);
	EXPECT_EQ(poll_one(-1, POLLIN), 0);
}

TEST(a_pipe_is_ready_for_what_it_holds)
{
	static char full[65536];
	int p[2];

	REQUIRE(pipe(p) == 0);
	EXPECT_EQ(poll_one(p[0], POLLIN), 0);
	EXPECT_EQ(poll_one(p[1], POLLOUT), POLLOUT);
	EXPECT_EQ(write(p[1], full, sizeof full), (long)sizeof full);
	EXPECT_EQ(poll_one(p[0], POLLIN | POLLOUT), POLLIN);
	EXPECT_EQ(poll_one(p[1], POLLOUT), 0);
	EXPECT_EQ(close(p[1]), 0);
	EXPECT_EQ(poll_one(p[0], POLLIN), POLLIN | POLLHUP);
	EXPECT_EQ(read(p[0], full, sizeof full), (long)sizeof full);
	EXPECT_EQ(poll_one(p[0], POLLIN), POLLHUP);
	EXPECT_EQ(close(p[0]), 0);
	REQUIRE(pipe(p) == 0);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(poll_one(p[1], POLLOUT), POLLOUT | POLLERR);
	EXPECT_EQ(close(p[1]), 0);
}

TEST(a_wait_ends_after_its_time_limit)
{
	struct timespec ms = { 0, 1000000 };
	int64_t before = test_now_ns();
	struct pollfd f;
	int p[2];

	REQUIRE(pipe(p) == 0);
	f = (struct pollfd){ p[0], POLLIN, -1 };
	EXPECT_EQ(poll(&f, 1, 1), 0);
	EXPECT_EQ(f.revents, 0);
	EXPECT(test_now_ns() - before >= 1000000);
	before = test_now_ns();
	EXPECT_EQ(ppoll(NULL, 0, &ms, NULL), 0);
	EXPECT(test_now_ns() - before >= 1000000);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
}

static void *
write_later(void *arg)
{
	usleep(1000);
	EXPECT_EQ(write(*(int *)arg, "x", 1), 1);
	return NULL;
}

TEST(a_write_ends_the_wait)
{
	struct pollfd f[3];
	pthread_t t;
	int p[2];

	REQUIRE(pipe(p) == 0);
	f[0] = (struct pollfd){ -1, POLLIN, -1 };
	f[1] = (struct pollfd){ p[0], 0, -1 };
	f[2] = (struct pollfd){ p[0], POLLIN, -1 };
	REQUIRE(pthread_create(&t, NULL, write_later, &p[1]) == 0);
	EXPECT_EQ(poll(f, 3, -1), 1);
	EXPECT_EQ(f[0].revents, 0);
	EXPECT_EQ(f[1].revents, 0);
	EXPECT_EQ(f[2].revents, POLLIN);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
}

static bool
is_set(int fd, const fd_set *set)
{
	return FD_ISSET(fd, set) != 0;
}

TEST(select_finds_what_is_ready)
{
	struct timeval none = { 0, 0 };
	fd_set reads, writes, others;
	int p[2];

	REQUIRE(pipe(p) == 0);
	FD_ZERO(&reads);
	FD_ZERO(&writes);
	FD_ZERO(&others);
	FD_SET(p[0], &reads);
	FD_SET(p[1], &writes);
	FD_SET(p[0], &others);
	EXPECT_EQ(select(p[1] + 1, &reads, &writes, &others, &none), 1);
	EXPECT(!is_set(p[0], &reads) && is_set(p[1], &writes));
	EXPECT(!is_set(p[0], &others));
	EXPECT_EQ(write(p[1], "x", 1), 1);
	FD_SET(p[0], &reads);
	EXPECT_EQ(select(p[1] + 1, &reads, &writes, NULL, NULL), 2);
	EXPECT(is_set(p[0], &reads) && is_set(p[1], &writes));
	/* The bits from the first argument on do not count. */
	EXPECT_EQ(select(p[0], &reads, NULL, NULL, &none), 0);
	EXPECT_EQ(close(p[0]), 0);
	FD_ZERO(&reads);
	FD_SET(p[0], &reads);
	EXPECT_ERRNO(select(p[0] + 1, &reads, NULL, NULL, &none), EBADF);
	FD_ZERO(&reads);
	FD_SET(100, &reads);
	EXPECT_ERRNO(select(101, &reads, NULL, NULL, &none), EBADF);
	EXPECT_ERRNO(select(-1, NULL, NULL, NULL, &none), EINVAL);
	EXPECT_EQ(close(p[1]), 0);
}

TEST(select_waits)
{
	struct timespec ms = { 0, 1000000 };
	int64_t before = test_now_ns();
	fd_set reads;
	pthread_t t;
	int p[2];

	EXPECT_EQ(pselect(0, NULL, NULL, NULL, &ms, NULL), 0);
	EXPECT(test_now_ns() - before >= 1000000);
	REQUIRE(pipe(p) == 0);
	FD_ZERO(&reads);
	FD_SET(p[0], &reads);
	REQUIRE(pthread_create(&t, NULL, write_later, &p[1]) == 0);
	EXPECT_EQ(select(p[0] + 1, &reads, NULL, NULL, NULL), 1);
	EXPECT(is_set(p[0], &reads));
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
}

/* The blocked signal stays pending until ppoll(2) unblocks it. */
TEST(the_mask_is_for_the_wait_alone)
{
	struct sigaction sa = { .sa_flags = SA_RESTART };
	sigset_t usr1, none, after;

	sa.sa_handler = test_note_signal;
	EXPECT_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	EXPECT_EQ(sigprocmask(SIG_BLOCK, &usr1, NULL), 0);
	EXPECT_EQ(raise(SIGUSR1), 0);
	EXPECT_EQ(test_nsignal, 0);
	EXPECT_ERRNO(ppoll(NULL, 0, NULL, &none), EINTR);
	EXPECT_EQ(test_nsignal, 1);
	EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &usr1, &after), 0);
	EXPECT_EQ(sigismember(&after, SIGUSR1), 1);
}

/* ppoll(2) restores the mask, however it ends. */
TEST(the_mask_comes_back)
{
	struct timespec ms = { 0, 1000000 };
	struct pollfd f = { 1, POLLOUT, 0 };
	sigset_t usr1, none, now;

	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	EXPECT_EQ(sigprocmask(SIG_BLOCK, &usr1, NULL), 0);
	EXPECT_EQ(ppoll(NULL, 0, &ms, &none), 0);
	EXPECT_EQ(sigprocmask(SIG_BLOCK, NULL, &now), 0);
	EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
	/* If ppoll(2) need not wait, it lets no signal in. */
	test_nsignal = 0;
	EXPECT_EQ(raise(SIGUSR1), 0);
	EXPECT_EQ(ppoll(&f, 1, NULL, &none), 1);
	EXPECT_EQ(test_nsignal, 0);
	EXPECT_ERRNO(ppoll((void *)8, 1, NULL, &none), EFAULT);
	EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &usr1, &now), 0);
	EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
	EXPECT_EQ(test_nsignal, 1);
}

static void *
poll_for_ever(void *fd)
{
	struct pollfd f = { *(int *)fd, POLLIN, 0 };

	EXPECT_EQ(poll(&f, 1, -1), 1);
	return NULL;
}

/* Its thread stays asleep, and so takes no time. */
TEST(a_change_of_another_pipe_wakes_no_poller)
{
	struct timespec ms = { 0, 1000000 }, before, after;
	int polled[2], other[2];
	clockid_t clock;
	pthread_t t;
	char c = 'x';

	REQUIRE(pipe(polled) == 0 && pipe(other) == 0);
	REQUIRE(pthread_create(&t, NULL, poll_for_ever, &polled[0]) == 0);
	EXPECT_EQ(pthread_getcpuclockid(t, &clock), 0);
	nanosleep(&ms, NULL);
	EXPECT_EQ(clock_gettime(clock, &before), 0);
	for (unsigned i = 0; i < 100; i++) {
		EXPECT_EQ(write(other[1], &c, 1), 1);
		EXPECT_EQ(read(other[0], &c, 1), 1);
		nanosleep(&ms, NULL);
	}
	EXPECT_EQ(clock_gettime(clock, &after), 0);
	EXPECT_EQ(after.tv_nsec, before.tv_nsec);
	EXPECT_EQ(after.tv_sec, before.tv_sec);
	EXPECT_EQ(write(polled[1], &c, 1), 1);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(close(polled[i]), 0);
		EXPECT_EQ(close(other[i]), 0);
	}
}

TEST(wrong_arguments)
{
	struct timespec bad = { 0, 1000000000 };
	struct pollfd f = { 1, POLLOUT, 0 };

	EXPECT_ERRNO(syscall(SYS_ppoll, (void *)8, 1, NULL, NULL, 8), EFAULT);
	EXPECT_ERRNO(syscall(SYS_ppoll, &f, 1, (void *)8, NULL, 8), EFAULT);
	EXPECT_ERRNO(syscall(SYS_ppoll, &f, 1, NULL, (void *)8, 8), EFAULT);
	EXPECT_ERRNO(syscall(SYS_ppoll, &f, 1, NULL, &f, 4), EINVAL);
	EXPECT_ERRNO(syscall(SYS_ppoll, &f, 1, &bad, NULL, 8), EINVAL);
	EXPECT_ERRNO(syscall(SYS_ppoll, &f, 1L << 32, NULL, NULL, 8), EINVAL);
}
