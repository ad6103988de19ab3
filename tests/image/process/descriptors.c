/* ioctl(2), select(2), epoll(7), readv(2) on descriptors, as on Linux. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_NAME "/tmp/descriptors"
#define PAGE      4096 /* PIPE_BUF, too */

#ifndef FIOCLEX
#define FIONCLEX 0x5450
#define FIOCLEX  0x5451
#endif

TEST(ioctls_of_every_descriptor)
{
	int on = 1, off = 0, end[2];
	char c;

	REQUIRE(pipe(end) == 0);
	EXPECT_EQ(ioctl(end[0], FIONBIO, &on), 0);
	EXPECT_EQ(fcntl(end[0], F_GETFL), O_RDONLY | O_NONBLOCK);
	EXPECT_ERRNO(read(end[0], &c, 1), EAGAIN);
	EXPECT_EQ(ioctl(end[0], FIONBIO, &off), 0);
	EXPECT_EQ(fcntl(end[0], F_GETFL), O_RDONLY);
	EXPECT_EQ(ioctl(end[1], FIOCLEX), 0);
	EXPECT_EQ(fcntl(end[1], F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(ioctl(end[1], FIONCLEX), 0);
	EXPECT_EQ(fcntl(end[1], F_GETFD), 0);
	EXPECT_ERRNO(ioctl(end[0], FIONBIO, 8), EFAULT);
	close(end[0]);
	close(end[1]);
	EXPECT_ERRNO(ioctl(end[0], FIONBIO, &on), EBADF);
}

TEST(the_bytes_that_a_read_returns)
{
	int n = -1, end[2], fd = open(FILE_NAME, O_RDWR | O_CREAT, 0600);

	REQUIRE(pipe(end) == 0 && fd >= 0);
	EXPECT_EQ(ioctl(end[0], FIONREAD, &n), 0);
	EXPECT_EQ(n, 0);
	EXPECT_EQ(write(end[1], "12345", 5), 5);
	EXPECT_EQ(ioctl(end[0], FIONREAD, &n), 0);
	EXPECT_EQ(n, 5);
	EXPECT_EQ(write(fd, "1234567", 7), 7);
	EXPECT_EQ(lseek(fd, 3, SEEK_SET), 3);
	EXPECT_EQ(ioctl(fd, FIONREAD, &n), 0);
	EXPECT_EQ(n, 4);
	EXPECT_EQ(lseek(fd, 10, SEEK_SET), 10);
	EXPECT_EQ(ioctl(fd, FIONREAD, &n), 0);
	EXPECT_EQ(n, -3);
	EXPECT_EQ(lseek(fd, 7 + ENOTTY, SEEK_SET), 7 + ENOTTY);
	EXPECT_EQ(ioctl(fd, FIONREAD, &n), 0);
	EXPECT_EQ(n, -ENOTTY); /* a number, not an error */
	close(end[0]);
	close(end[1]);
	close(fd);
	unlink(FILE_NAME);
}

TEST(a_pipe_is_writable_if_pipe_buf_bytes_fit)
{
	static char page[PAGE];
	struct pollfd out = { .events = POLLOUT };
	int end[2], left;

	REQUIRE(pipe2(end, O_NONBLOCK) == 0);
	out.fd = end[1];
	/* Full, but for less than a page: Linux has sixteen pages. */
	while (write(end[1], page, PAGE) == PAGE)
		;
	EXPECT_EQ(poll(&out, 1, 0), 0);
	EXPECT_EQ(ioctl(end[0], FIONREAD, &left), 0);
	EXPECT_EQ(read(end[0], page, 1), 1);
	EXPECT_EQ(poll(&out, 1, 0), 0);
	for (left -= 1; left > 0; left -= PAGE)
		EXPECT(read(end[0], page, PAGE) > 0);
	EXPECT_EQ(poll(&out, 1, 0), 1);
	close(end[0]);
	close(end[1]);
}

TEST(select_checks_all_sets)
{
	fd_set set;
	struct timeval soon = { 0, 1000001 };
	int end[2];

	REQUIRE(pipe(end) == 0);
	close(end[1]);
	FD_ZERO(&set);
	FD_SET(end[1], &set);
	EXPECT_ERRNO(select(end[1] + 1, NULL, NULL, &set, &soon), EBADF);
	/* A second of microseconds and more is a time, too. */
	FD_ZERO(&set);
	FD_SET(end[0], &set);
	soon = (struct timeval){ 0, 1000001 };
	EXPECT_EQ(select(end[0] + 1, &set, NULL, NULL, &soon), 1);
	close(end[0]);
}

TEST(a_set_without_events_reports_the_end)
{
	struct epoll_event ee = { .events = 0 };
	int set = epoll_create1(0), end[2];

	REQUIRE(pipe(end) == 0 && set >= 0);
	EXPECT_EQ(epoll_ctl(set, EPOLL_CTL_ADD, end[0], &ee), 0);
	EXPECT_EQ(write(end[1], "x", 1), 1);
	EXPECT_EQ(epoll_wait(set, &ee, 1, 0), 0);
	close(end[1]);
	EXPECT_EQ(epoll_wait(set, &ee, 1, 0), 1);
	EXPECT_EQ(ee.events, EPOLLHUP);
	ee.events = EPOLLONESHOT;
	EXPECT_EQ(epoll_ctl(set, EPOLL_CTL_MOD, end[0], &ee), 0);
	EXPECT_EQ(epoll_wait(set, &ee, 1, 0), 1);
	EXPECT_EQ(epoll_wait(set, &ee, 1, 0), 0);
	close(end[0]);
	close(set);
}

/* The second part would wait, so the call ends with the first. */
TEST(readv_of_an_eventfd_ends_after_a_count)
{
	uint64_t one = 0, two = 0;
	struct iovec iov[] = { { &one, 8 }, { &two, 8 } };
	int fd = eventfd(5, 0);

	EXPECT_EQ(readv(fd, iov, 2), 8);
	EXPECT_EQ(one, 5);
	EXPECT_EQ(two, 0);
	close(fd);
}

TEST(no_descriptor_is_a_socket)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;
	int fd = open("/dev/null", O_RDWR);

	EXPECT_ERRNO(getsockname(fd, (struct sockaddr *)&ss, &len), ENOTSOCK);
	EXPECT_ERRNO(getpeername(fd, (struct sockaddr *)&ss, &len), ENOTSOCK);
	EXPECT_ERRNO(shutdown(fd, SHUT_RD), ENOTSOCK);
	EXPECT_ERRNO(recv(fd, &ss, 1, 0), ENOTSOCK);
	EXPECT_ERRNO(listen(fd, 1), ENOTSOCK);
	close(fd);
	EXPECT_ERRNO(getsockname(fd, (struct sockaddr *)&ss, &len), EBADF);
}
