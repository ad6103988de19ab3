/* Several LWPs use one pipe; ends are closed, and calls interrupted. */
#define _GNU_SOURCE /* pipe2() */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

TEST_KEEPS(64); /* the C library keeps stacks of threads */

#define PIPE_BYTES 65536

static int fd[2];
static char big[2 * PIPE_BYTES];

static void *
read_one(void *buf)
{
	return (void *)read(fd[0], buf, 16);
}

/* Make pipes, which reuse the memory of a pipe that was just freed. */
static void
fill_others(char with)
{
	char buf[64];
	int other[2];

	memset(buf, with, sizeof buf);
	for (int i = 0; i < 8; i++) {
		REQUIRE(pipe(other) == 0);
		EXPECT_EQ(write(other[1], buf, sizeof buf), sizeof buf);
		fcntl(other[0], F_DUPFD, 40 + i);
		close(other[0]);
		close(other[1]);
	}
}

static void
close_others(void)
{
	for (int i = 40; i < 48; i++)
		close(i);
}

TEST(closed_under_a_reader)
{
	char buf[16] = "";
	pthread_t t;
	void *n;

	REQUIRE(pipe(fd) == 0);
	REQUIRE(pthread_create(&t, NULL, read_one, buf) == 0);
	usleep(1000);
	close(fd[0]); /* the reader still reads... */
	usleep(1000);
	EXPECT_EQ(write(fd[1], "abc", 3), 3);
	close(fd[1]);
	fill_others('x'); /* ...the bytes of its own pipe */
	EXPECT_EQ(pthread_join(t, &n), 0);
	EXPECT_EQ((intptr_t)n, 3);
	EXPECT(memcmp(buf, "abc", 4) == 0);
	close_others();
}

static void *
write_big(void *arg)
{
	return (void *)write(fd[1], big, sizeof big);
}

TEST(closed_under_a_writer)
{
	pthread_t t;
	void *n;

	REQUIRE(pipe(fd) == 0);
	REQUIRE(pthread_create(&t, NULL, write_big, NULL) == 0);
	usleep(1000);
	close(fd[1]);
	usleep(1000);
	EXPECT_EQ(read(fd[0], big, sizeof big), PIPE_BYTES);
	usleep(1000);
	EXPECT_EQ(read(fd[0], big, sizeof big), PIPE_BYTES);
	EXPECT_EQ(read(fd[0], big, sizeof big), 0);
	close(fd[0]);
	EXPECT_EQ(pthread_join(t, &n), 0);
	EXPECT_EQ((intptr_t)n, sizeof big);
}

TEST(readv_does_not_wait_for_more)
{
	char a[4], b[4];
	struct iovec iov[] = { { a, 4 }, { b, 4 } };

	REQUIRE(pipe(fd) == 0);
	EXPECT_EQ(write(fd[1], "abcd", 4), 4);
	EXPECT_EQ(readv(fd[0], iov, 2), 4);
	EXPECT(memcmp(a, "abcd", 4) == 0);
	EXPECT_EQ(write(fd[1], "abcdef", 6), 6);
	EXPECT_EQ(readv(fd[0], iov, 2), 6);
	EXPECT(memcmp(b, "ef", 2) == 0);
	close(fd[1]);
	EXPECT_EQ(readv(fd[0], iov, 2), 0);
	close(fd[0]);
}

static volatile sig_atomic_t came;

static void
record_signal(int sig)
{
	came = sig;
}

static void *
interrupt_writer(void *arg)
{
	usleep(1000);
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	usleep(1000);
	EXPECT_EQ(read(fd[0], big, PIPE_BYTES), PIPE_BYTES);
	return NULL;
}

/* A signal ends writev(2) with the bytes so far, even with SA_RESTART. */
TEST(writev_is_interrupted_in_its_second_piece)
{
	struct iovec iov[] = { { big, PIPE_BYTES }, { big, 4 } };
	pthread_t t, self = pthread_self();

	for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
		struct sigaction act = { .sa_handler = record_signal,
			.sa_flags = flags };

		came = 0;
		REQUIRE(pipe(fd) == 0);
		EXPECT_EQ(sigaction(SIGUSR1, &act, NULL), 0);
		REQUIRE(pthread_create(&t, NULL, interrupt_writer, &self) == 0);
		EXPECT_EQ(writev(fd[1], iov, 2), PIPE_BYTES);
		EXPECT_EQ(came, SIGUSR1);
		EXPECT_EQ(pthread_join(t, NULL), 0);
		close(fd[1]);
		EXPECT_EQ(read(fd[0], big, 1), 0);
		close(fd[0]);
	}
	signal(SIGUSR1, SIG_DFL);
}

/* Up to PIPE_BUF bytes are written whole or not at all, in any pieces. */
TEST(a_short_writev_is_not_split)
{
	struct iovec iov[] = { { big, 8 }, { big + 8, 100 } };

	REQUIRE(pipe2(fd, O_NONBLOCK) == 0);
	EXPECT_EQ(write(fd[1], big, PIPE_BYTES - 10), PIPE_BYTES - 10);
	EXPECT_ERRNO(writev(fd[1], iov, 2), EAGAIN);
	EXPECT_EQ(read(fd[0], big, sizeof big), PIPE_BYTES - 10);
	EXPECT_EQ(writev(fd[1], iov, 2), 108);
	EXPECT_EQ(read(fd[0], big, sizeof big), 108);
	/* More bytes may be split: the pieces that fit are written. */
	iov[1].iov_len = PIPE_BYTES;
	EXPECT_EQ(write(fd[1], big, PIPE_BYTES - 10), PIPE_BYTES - 10);
	long n = writev(fd[1], iov, 2);
	EXPECT(n >= 8 && n <= 10); /* Linux: 8 */
	close(fd[0]);
	close(fd[1]);
}

static void *
write_piece(void *arg)
{
	return (void *)write(fd[1], big, 8);
}

/* The ring's second part goes to a bad address, the first makes room. */
TEST(half_a_read_makes_room)
{
	char *page = test_map(4096, PROT_READ | PROT_WRITE);
	pthread_t t;
	void *n;

	REQUIRE(page != NULL && pipe(fd) == 0);
	EXPECT_EQ(write(fd[1], big, PIPE_BYTES), PIPE_BYTES);
	EXPECT_EQ(read(fd[0], big, PIPE_BYTES - 8), PIPE_BYTES - 8);
	EXPECT_EQ(write(fd[1], big, PIPE_BYTES - 8), PIPE_BYTES - 8);
	REQUIRE(pthread_create(&t, NULL, write_piece, NULL) == 0);
	usleep(1000);
	EXPECT_EQ(read(fd[0], page + 4096 - 8, 100), 8);
	EXPECT_EQ(pthread_join(t, &n), 0);
	EXPECT_EQ((intptr_t)n, 8);
	close(fd[0]);
	close(fd[1]);
	munmap(page, 4096);
}

static unsigned
events_of(int which)
{
	struct pollfd p = { which, POLLIN, 0 };

	return poll(&p, 1, 0) >= 0 ? (unsigned)p.revents : ~0U;
}

TEST(a_fifo_joins_who_opens_it)
{
	const char *const name = "/tmp/fifo";
	char buf[16] = "";
	struct stat st, now;
	pid_t child;
	int r, w, late;

	EXPECT_EQ(mkfifo(name, 0640), 0);
	EXPECT_ERRNO(mkfifo(name, 0640), EEXIST);
	EXPECT_ERRNO(mkfifo("/fifo", 0640), EROFS);
	EXPECT_ERRNO(truncate(name, 1), EINVAL);
	EXPECT_EQ(stat(name, &st), 0);
	EXPECT_EQ(st.st_mode, S_IFIFO | 0640);
	EXPECT_ERRNO(open(name, O_WRONLY | O_NONBLOCK), ENXIO);
	r = open(name, O_RDONLY | O_NONBLOCK);
	EXPECT_EQ(read(r, buf, 1), 0);
	EXPECT_EQ(events_of(r), 0); /* no writer has been there */
	w = open(name, O_WRONLY);
	/* Its descriptors are of the file, and change it. */
	EXPECT_EQ(fchmod(w, 0600), 0);
	EXPECT(fstat(r, &now) == 0 && now.st_mode == (S_IFIFO | 0600));
	EXPECT(now.st_ino == st.st_ino && now.st_size == 0);
	EXPECT_ERRNO(read(r, buf, 1), EAGAIN);
	EXPECT_EQ(write(w, "one", 3), 3);
	EXPECT_EQ(read(r, buf, sizeof buf), 3);
	EXPECT_ERRNO(lseek(r, 0, SEEK_SET), ESPIPE);
	EXPECT_EQ(fcntl(r, F_GETPIPE_SZ), 65536);
	close(w);
	EXPECT_EQ(events_of(r), POLLHUP);
	/* A reader that comes then has seen no writer. */
	late = open(name, O_RDONLY | O_NONBLOCK);
	EXPECT_EQ(events_of(late), 0);
	close(open(name, O_WRONLY));
	EXPECT_EQ(events_of(late), POLLHUP);
	close(late);
	close(r);
	/* Both wait for each other, and the writer may be gone by then. */
	child = fork();
	if (child == 0) {
		w = open(name, O_WRONLY);
		_exit(write(w, "from the child", 14) != 14);
	}
	r = open(name, O_RDONLY);
	EXPECT_EQ(read(r, buf, sizeof buf), 14);
	EXPECT_EQ(read(r, buf, sizeof buf), 0);
	EXPECT_EQ(test_wait_status(child), 0);
	close(r);
	w = open(name, O_RDWR);
	EXPECT_EQ(unlink(name), 0);
	EXPECT_EQ(write(w, "own", 3), 3);
	EXPECT_EQ(read(w, buf, sizeof buf), 3);
	close(w);
	EXPECT_ERRNO(mknod(name, S_IFMT, 0), EINVAL);
	EXPECT_EQ(mknod(name, S_IFREG | 0600, 0), 0);
	EXPECT_ERRNO(open(name, O_RDONLY | O_DIRECTORY), ENOTDIR);
	EXPECT_EQ(unlink(name), 0);
}

static void
interrupted(int)
{
}

TEST(a_signal_ends_the_wait_for_the_other_end)
{
	struct sigaction sa = { .sa_handler = interrupted };
	struct itimerval soon = { { 0, 2000 }, { 0, 2000 } }; /* and again */

	EXPECT_EQ(mkfifo("/tmp/fifo", 0640), 0);
	EXPECT_EQ(sigaction(SIGALRM, &sa, NULL), 0);
	EXPECT_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
	EXPECT_ERRNO(open("/tmp/fifo", O_RDONLY), EINTR);
	EXPECT_EQ(setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL), 0);
	EXPECT_EQ(unlink("/tmp/fifo"), 0);
}
