/* signalfd4(2): what a read reports of blocked signals, what wakes up. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_KEEPS(64); /* the C library keeps stacks of threads */

static sigset_t
set_of(int first, int second)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, first);
	sigaddset(&set, second);
	return set;
}

/* Block two signals and open a descriptor for them. */
static int
open_for(int first, int second, int flags)
{
	sigset_t set = set_of(first, second);

	EXPECT_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	return signalfd(-1, &set, flags);
}

static void
end(int fd, int first, int second)
{
	sigset_t set = set_of(first, second);

	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
}

/* The number of the signal that a read gets, or -1. */
static int
next(int fd, struct signalfd_siginfo *info)
{
	memset(info, 0xff, sizeof *info);
	return read(fd, info, sizeof *info) == sizeof *info
	           ? (int)info->ssi_signo
	           : -1;
}

static short
polled(int fd, int ms)
{
	struct pollfd p = { fd, POLLIN | POLLOUT, 0 };

	return poll(&p, 1, ms) >= 0 ? p.revents : -1;
}

TEST(a_signal_is_read_once)
{
	int fd = open_for(SIGUSR1, SIGUSR2, SFD_NONBLOCK | SFD_CLOEXEC);
	struct signalfd_siginfo info;

	REQUIRE(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(polled(fd, 0), 0);
	EXPECT_ERRNO(next(fd, &info), EAGAIN);
	EXPECT_EQ(kill(getpid(), SIGUSR2), 0);
	EXPECT_EQ(polled(fd, 0), POLLIN);
	EXPECT_EQ(next(fd, &info), SIGUSR2);
	EXPECT_EQ(info.ssi_code, SI_USER);
	EXPECT_EQ(info.ssi_pid, getpid());
	EXPECT_EQ(info.ssi_uid, 0);
	EXPECT_EQ(info.ssi_addr, 0);
	EXPECT_EQ(polled(fd, 0), 0);
	EXPECT_ERRNO(next(fd, &info), EAGAIN);
	end(fd, SIGUSR1, SIGUSR2);
}

TEST(values_of_queued_signals)
{
	int fd = open_for(SIGRTMIN, SIGRTMIN + 1, SFD_NONBLOCK);
	struct signalfd_siginfo info[20];

	REQUIRE(fd >= 0);
	for (int i = 0; i < 20; i++)
		EXPECT_EQ(sigqueue(getpid(), SIGRTMIN,
			      (union sigval){ .sival_int = 100 + i }),
		    0);
	/* A read reports at most 16, or as many as fit. */
	EXPECT_EQ(
	    read(fd, info, 3 * sizeof *info - 1), (long)(2 * sizeof *info));
	EXPECT_EQ(read(fd, info + 2, sizeof info - 2 * sizeof *info),
	    (long)(16 * sizeof *info));
	EXPECT_EQ(
	    read(fd, info + 18, 2 * sizeof *info), (long)(2 * sizeof *info));
	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(info[i].ssi_signo, SIGRTMIN);
		EXPECT_EQ(info[i].ssi_code, SI_QUEUE);
		EXPECT_EQ(info[i].ssi_pid, getpid());
		EXPECT_EQ(info[i].ssi_int, 100 + i);
	}
	EXPECT_EQ(polled(fd, 0), 0);
	end(fd, SIGRTMIN, SIGRTMIN + 1);
}

TEST(the_end_of_a_child)
{
	int fd = open_for(SIGCHLD, SIGCHLD, 0);
	struct signalfd_siginfo info;
	pid_t child = fork();

	if (child == 0)
		_exit(42);
	REQUIRE(child > 0 && fd >= 0);
	EXPECT_EQ(next(fd, &info), SIGCHLD);
	EXPECT_EQ(info.ssi_code, CLD_EXITED);
	EXPECT_EQ(info.ssi_pid, child);
	EXPECT_EQ(info.ssi_status, 42);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
	end(fd, SIGCHLD, SIGCHLD);
}

static void
alarm_in(int us)
{
	const struct itimerval it = { { 0, 0 }, { 0, us } };

	setitimer(ITIMER_REAL, &it, NULL);
}

/* Each wait begins before the signal comes. */
TEST(what_wakes_up)
{
	int fd = open_for(SIGALRM, SIGALRM, 0), set = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	struct signalfd_siginfo info;

	REQUIRE(fd >= 0 && set >= 0);
	alarm_in(10000);
	EXPECT_EQ(next(fd, &info), SIGALRM);
	alarm_in(10000);
	EXPECT_EQ(polled(fd, -1), POLLIN);
	EXPECT_EQ(next(fd, &info), SIGALRM);
	EXPECT_EQ(epoll_ctl(set, EPOLL_CTL_ADD, fd, &e), 0);
	EXPECT_EQ(epoll_wait(set, &e, 1, 0), 0);
	for (int i = 0; i < 2; i++) {
		alarm_in(10000);
		EXPECT_EQ(epoll_wait(set, &e, 1, -1), 1);
		EXPECT_EQ(e.events, EPOLLIN);
		/* The edge is reported once. */
		EXPECT_EQ(epoll_wait(set, &e, 1, 0), 0);
		EXPECT_EQ(next(fd, &info), SIGALRM);
	}
	EXPECT_EQ(close(set), 0);
	end(fd, SIGALRM, SIGALRM);
}

/* A signal that is in no set goes to its handler, and ends the read. */
TEST(a_signal_of_another_kind)
{
	struct sigaction sa = { .sa_handler = test_note_signal };
	int fd = open_for(SIGUSR1, SIGUSR1, 0);
	struct signalfd_siginfo info;

	REQUIRE(fd >= 0);
	sigaction(SIGALRM, &sa, NULL);
	alarm_in(10000);
	EXPECT_ERRNO(next(fd, &info), EINTR);
	EXPECT_EQ(test_last_signal, SIGALRM);
	signal(SIGALRM, SIG_DFL);
	end(fd, SIGUSR1, SIGUSR1);
}

TEST(another_set)
{
	int fd = open_for(SIGUSR1, SIGUSR2, SFD_NONBLOCK);
	sigset_t set = set_of(SIGUSR2, SIGUSR2);
	struct signalfd_siginfo info;

	REQUIRE(fd >= 0);
	EXPECT_EQ(signalfd(fd, &set, 0), fd);
	EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
	EXPECT_ERRNO(next(fd, &info), EAGAIN);
	set = set_of(SIGUSR1, SIGKILL);
	EXPECT_EQ(signalfd(fd, &set, 0), fd);
	EXPECT_EQ(next(fd, &info), SIGUSR1);
	end(fd, SIGUSR1, SIGUSR2);
}

static void *
read_signal(void *fd)
{
	struct signalfd_siginfo info;

	return (void *)(intptr_t)next(*(int *)fd, &info);
}

/* The read has begun when the descriptor is closed, and holds the file. */
TEST(a_close_during_a_read)
{
	int fd = open_for(SIGALRM, SIGALRM, 0);
	pthread_t thread;
	sigset_t set = set_of(SIGALRM, SIGALRM);
	void *sig;

	REQUIRE(fd >= 0);
	REQUIRE(pthread_create(&thread, NULL, read_signal, &fd) == 0);
	usleep(20000);
	EXPECT_EQ(close(fd), 0);
	alarm_in(10000);
	EXPECT_EQ(pthread_join(thread, &sig), 0);
	EXPECT_EQ((intptr_t)sig, SIGALRM);
	EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
}

/* A forked process reads its own signals by the descriptor. */
TEST(each_process_has_its_own_signals)
{
	int fd = open_for(SIGUSR1, SIGUSR1, SFD_NONBLOCK);
	struct signalfd_siginfo info;
	pid_t child;

	REQUIRE(fd >= 0);
	EXPECT_EQ(raise(SIGUSR1), 0);
	if ((child = fork()) == 0) {
		bool good = next(fd, &info) == -1 && errno == EAGAIN;

		raise(SIGUSR1);
		_exit(good && next(fd, &info) == SIGUSR1 ? 7 : 1);
	}
	EXPECT_EQ(test_exit_code(child), 7);
	EXPECT_EQ(next(fd, &info), SIGUSR1);
	end(fd, SIGUSR1, SIGUSR1);
}

TEST(errors)
{
	int fd = open_for(SIGUSR1, SIGUSR2, SFD_NONBLOCK), p[2];
	sigset_t set = set_of(SIGUSR1, SIGUSR2);
	struct signalfd_siginfo info;

	REQUIRE(fd >= 0 && pipe(p) == 0);
	EXPECT_ERRNO(signalfd(-1, &set, 1), EINVAL);
	EXPECT_ERRNO(signalfd(60, &set, 0), EBADF);
	EXPECT_ERRNO(signalfd(-2, &set, 0), EBADF);
	EXPECT_ERRNO(signalfd(p[0], &set, 0), EINVAL);
	EXPECT_ERRNO(syscall(SYS_signalfd4, -1, 8, 8, 0), EFAULT);
	EXPECT_ERRNO(syscall(SYS_signalfd4, -1, &set, 4, 0), EINVAL);
	EXPECT_EQ(raise(SIGUSR1), 0);
	EXPECT_ERRNO(read(fd, &info, sizeof info - 1), EINVAL);
	EXPECT_ERRNO(write(fd, &info, sizeof info), EINVAL);
	EXPECT_ERRNO(lseek(fd, 0, SEEK_SET), ESPIPE);
	EXPECT_ERRNO(pread(fd, &info, sizeof info, 0), ESPIPE);
	/* As in Linux, a signal that cannot be copied is lost. */
	EXPECT_ERRNO(read(fd, (void *)8, sizeof info), EFAULT);
	EXPECT_ERRNO(next(fd, &info), EAGAIN);
	EXPECT_EQ(close(p[0]), 0);
	EXPECT_EQ(close(p[1]), 0);
	end(fd, SIGUSR1, SIGUSR2);
}
