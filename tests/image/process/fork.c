/* Processes: fork, exec, wait, pipes, and the end of a tree of processes. */
#define _GNU_SOURCE /* pipe2(), gettid() */
#include "tests/lib/image/test.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NPROC 260 /* more than ASIDs of 8 bits */

TEST_KEEPS(64);

TEST(child_has_its_own_memory)
{
	static volatile int shared = 1;
	volatile int on_stack = 1;
	pid_t parent = getpid(), pid = fork();

	REQUIRE(pid >= 0);
	if (pid == 0) {
		bool good = shared == 1 && on_stack == 1 &&
		            getppid() == parent && getpid() != parent &&
		            gettid() == getpid();

		shared = on_stack = 2;
		_exit(good ? 42 : 1);
	}
	EXPECT_EQ(test_exit_code(pid), 42);
	EXPECT_EQ(shared, 1);
	EXPECT_EQ(on_stack, 1);
}

TEST(a_failing_fork_leaves_no_child)
{
	int status;

	EXPECT_ERRNO(
	    syscall(SYS_clone, CLONE_PARENT_SETTID | SIGCHLD, 0L, 8L, 0L, 0L),
	    EFAULT);
	EXPECT_ERRNO(waitpid(-1, &status, WNOHANG), ECHILD);
}

TEST(no_child_to_wait_for)
{
	int status;

	EXPECT_ERRNO(waitpid(-1, &status, 0), ECHILD);
	EXPECT_ERRNO(waitpid(getpid(), &status, 0), ECHILD);
	EXPECT_ERRNO(waitpid(-1, &status, 0x100), EINVAL);
	/* No process's number, and here it does not mean "any". */
	EXPECT_ERRNO(waitid(P_PID, (id_t)-1, NULL, WEXITED), EINVAL);
}

TEST(killed_by_a_signal)
{
	pid_t pid = fork();
	siginfo_t info;

	REQUIRE(pid >= 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	EXPECT_EQ(waitpid(pid, NULL, WNOHANG), 0);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	memset(&info, 0, sizeof info);
	EXPECT_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(info.si_pid, pid);
	EXPECT_EQ(info.si_code, CLD_KILLED);
	EXPECT_EQ(info.si_status, SIGKILL);
	int status = test_wait_status(pid);
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(WTERMSIG(status), SIGKILL);
	EXPECT_ERRNO(kill(pid, 0), ESRCH);
}

TEST(pipe_carries_bytes_and_its_end)
{
	char buf[8192], *big = malloc(100000);
	size_t total = 0;
	int fd[2];
	ssize_t n;
	pid_t pid;

	REQUIRE(big != NULL && pipe(fd) == 0);
	REQUIRE((pid = fork()) >= 0);
	if (pid == 0) {
		close(fd[0]);
		memset(big, 'x', 100000);
		_exit(write(fd[1], big, 100000) == 100000 ? 0 : 1);
	}
	close(fd[1]);
	while ((n = read(fd[0], buf, sizeof buf)) > 0)
		total += (size_t)n;
	EXPECT_EQ(n, 0);
	EXPECT_EQ(total, 100000);
	EXPECT_EQ(test_wait_status(pid), 0);
	close(fd[0]);
	free(big);
}

TEST(pipe_without_a_reader)
{
	int fd[2];

	REQUIRE(pipe2(fd, O_NONBLOCK | O_CLOEXEC) == 0);
	char c;
	EXPECT_ERRNO(read(fd[0], &c, 1), EAGAIN);
	EXPECT_EQ(fcntl(fd[0], F_GETFD), FD_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	close(fd[0]);
	EXPECT_ERRNO(write(fd[1], "x", 1), EPIPE);
	signal(SIGPIPE, SIG_DFL);
	close(fd[1]);
	EXPECT_ERRNO(syscall(SYS_pipe2, 8L, 0L), EFAULT);
	EXPECT_ERRNO(pipe2(fd, ~0), EINVAL);
}

/* Run this program again.  Its environment tells it what to do. */
static int
run_self(const char *first, const char *what)
{
	char *argv[] = { (char *)first, NULL };
	char *envv[] = { (char *)what, NULL };
	pid_t pid;

	if (posix_spawn(&pid, test_argv[0], NULL, NULL, argv, envv) != 0)
		return -1;
	return test_wait_status(pid);
}

static void __attribute__((constructor(101))) obey_environment(void)
{
	if (getenv("EXIT3") != NULL)
		_exit(getpid() == gettid() ? 3 : 1);
	if (getenv("ABORT") != NULL)
		abort();
	/* Below it: the number of arguments, these, NULL. */
	if (getenv("EMPTY_ARGUMENT") != NULL)
		_exit((long)environ[-3] == 1 && *environ[-2] == '\0' ? 3 : 1);
	if (getenv("PATH_WANTED") != NULL) {
		const char *path = (const char *)getauxval(AT_EXECFN);

		_exit(strcmp(path, getenv("PATH_WANTED")) == 0 ? 3 : 1);
	}
}

TEST(spawn_runs_a_program)
{
	EXPECT_EQ(run_self(test_argv[0], "EXIT3="), 3 << 8);
	int status = run_self(test_argv[0], "ABORT=");
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(WTERMSIG(status), SIGABRT);
}

static volatile int last_signal;

static void
record_signal(int sig)
{
	last_signal = sig;
}

static int
signal_parent(void *arg)
{
	kill(getppid(), SIGUSR1);
	usleep(1000);
	_exit(last_signal);
}

/* A signal arrives after the child has ended, and does not disturb the wait. */
TEST(a_signal_does_not_end_the_wait_in_vfork)
{
	signal(SIGUSR1, record_signal);
	pid_t pid = test_vfork(signal_parent, NULL);
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_EQ(last_signal, SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
}

/* Until the pipe's other end is closed. */
static int
read_end(void *arg)
{
	int *end = arg;
	char c;

	close(end[1]);
	_exit((int)read(end[0], &c, 1));
}

/* A process in vfork(2) can be killed before its child ends. */
TEST(a_process_in_vfork_can_be_killed)
{
	int end[2];
	pid_t pid;

	REQUIRE(pipe(end) == 0);
	if ((pid = fork()) == 0) {
		test_vfork(read_end, end);
		_exit(0);
	}
	close(end[0]);
	usleep(2000);
	EXPECT_EQ(kill(pid, SIGTERM), 0);
	EXPECT_EQ(test_wait_status(pid), SIGTERM);
	close(end[1]);
}

static void *
exec_self(void *arg)
{
	char *argv[] = { test_argv[0], NULL }, *envv[] = { "EXIT3=", NULL };

	execve(test_argv[0], argv, envv);
	return NULL;
}

/* As in Linux: programs of several names need it. */
TEST(a_program_finds_its_path_whatever_its_first_argument)
{
	char wanted[128];

	snprintf(wanted, sizeof wanted, "PATH_WANTED=%s", test_argv[0]);
	EXPECT_EQ(run_self("another", wanted), 3 << 8);
	EXPECT_EQ(run_self(NULL, "EMPTY_ARGUMENT="), 3 << 8);
}

static void *
wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

TEST(exec_ends_the_other_lwps)
{
	pid_t pid = fork();
	pthread_t t;

	REQUIRE(pid >= 0);
	if (pid == 0) {
		pthread_create(&t, NULL, wait_for_ever, NULL);
		pthread_create(&t, NULL, exec_self, NULL);
		wait_for_ever(NULL);
	}
	EXPECT_EQ(test_exit_code(pid), 3);
}

/* The child of the other LWP reads until execve(2) closes the pipe. */
static void *
vfork_and_wait(void *arg)
{
	test_vfork(read_end, arg);
	return NULL;
}

TEST(exec_ends_an_lwp_in_vfork)
{
	pid_t pid = fork();
	pthread_t t;
	int end[2];

	REQUIRE(pid >= 0);
	if (pid == 0) {
		pipe2(end, O_CLOEXEC);
		pthread_create(&t, NULL, vfork_and_wait, end);
		usleep(2000);
		exec_self(NULL);
		_exit(1);
	}
	EXPECT_EQ(test_wait_status(pid), 3 << 8);
}

static void *
make_others(void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;)
		pthread_create(&t, &attr, wait_for_ever, NULL);
	return arg;
}

/* clone(2), while execve(2) ends the others, makes no new LWP. */
TEST(exec_ends_lwps_that_make_others)
{
	for (unsigned us = 0; us < 2500; us += 125) {
		pid_t pid = fork();
		pthread_t t;

		REQUIRE(pid >= 0);
		if (pid == 0) {
			alarm(2); /* the alarm survives exec */
			pthread_create(&t, NULL, make_others, NULL);
			pthread_create(&t, NULL, make_others, NULL);
			usleep(us);
			exec_self(NULL);
		}
		int status = test_wait_status(pid);
		EXPECT_EQ(status, 3 << 8);
	}
}

TEST(failing_exec_changes_nothing)
{
	char *argv[] = { "x", NULL };

	EXPECT_ERRNO(execv("/no/such", argv), ENOENT);
	EXPECT_ERRNO(execv("/suite", argv), ENOEXEC);
	EXPECT_ERRNO(execv("/dev", argv), EACCES);
	EXPECT_ERRNO(syscall(SYS_execve, 8L, 0L, 0L), EFAULT);
	EXPECT_ERRNO(syscall(SYS_execve, test_argv[0], 8L, 0L), EFAULT);
}

TEST(hundreds_of_processes)
{
	pid_t pid[NPROC];
	int fd[2], n;
	char c;

	REQUIRE(pipe(fd) == 0);
	for (n = 0; n < NPROC; n++) {
		if ((pid[n] = fork()) < 0)
			break;
		if (pid[n] == 0) {
			close(fd[1]);
			_exit(read(fd[0], &c, 1) == 0 ? n % 127 : 127);
		}
	}
	EXPECT_EQ(n, NPROC);
	close(fd[1]); /* now all of them read end of file */
	for (int i = 0; i < n; i++)
		EXPECT_EQ(test_wait_status(pid[i]), i % 127 << 8);
	close(fd[0]);
}

TEST(orphans_end_without_a_wait)
{
	pid_t pid = fork();
	int fd[2];
	char c;

	REQUIRE(pid >= 0);
	if (pid == 0) {
		if (pipe(fd) == 0 && fork() == 0) {
			close(fd[1]);
			/* until its parent ends */
			_exit((int)read(fd[0], &c, 1));
		}
		_exit(0);
	}
	EXPECT_EQ(test_wait_status(pid), 0);
	usleep(20000);
	EXPECT_ERRNO(waitpid(-1, NULL, WNOHANG), ECHILD);
}

TEST(ignored_children_are_not_waited_for)
{
	signal(SIGCHLD, SIG_IGN);
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	EXPECT_ERRNO(waitpid(pid, NULL, 0), ECHILD);
	/* The same, with a handler of SIGCHLD. */
	struct sigaction sa = { .sa_handler = record_signal,
		.sa_flags = SA_NOCLDWAIT };
	last_signal = 0;
	sigaction(SIGCHLD, &sa, NULL);
	if ((pid = fork()) == 0)
		_exit(0);
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
	EXPECT_EQ(errno, ECHILD);
	EXPECT_EQ(last_signal, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
}
