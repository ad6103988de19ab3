/* Process groups and sessions: members, signals, and waits. */
#define _GNU_SOURCE /* pipe2() */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that waits for a signal. */
static pid_t
waiting_child(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

/* A child that ends with the result of fn(). */
static pid_t
child_of(int (*fn)(void))
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	return pid;
}

static void
end(pid_t pid)
{
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

/* In a child each of these is one bit of its status. */
static int
inherits(void)
{
	pid_t parent = getppid();

	return (getpgrp() == parent) | (getpgid(0) == parent) << 1 |
	       (getpgid(getpid()) == parent) << 2 | (getsid(0) == 0) << 3;
}

TEST(a_program_leads_the_group_of_its_line)
{
	EXPECT_EQ(getpgrp(), getpid());
	EXPECT_EQ(getsid(0), 0); /* the launcher's */
	EXPECT_EQ(test_exit_code(child_of(inherits)), 15);
}

/* Two children in a group, and one in the group of the test. */
struct three {
	pid_t first, second, other;
};

static struct three
make_three(void)
{
	struct three t = { waiting_child(), waiting_child(), waiting_child() };

	EXPECT_EQ(setpgid(t.first, 0), 0);
	EXPECT_EQ(setpgid(t.second, t.first), 0);
	EXPECT_EQ(getpgid(t.first), t.first);
	EXPECT_EQ(getpgid(t.second), t.first);
	EXPECT_EQ(getpgid(t.other), getpid());
	return t;
}

TEST(a_signal_to_a_group)
{
	struct three t = make_three();

	EXPECT_EQ(kill(-t.first, 0), 0);
	EXPECT_EQ(kill(-t.first, SIGTERM), 0);
	EXPECT_EQ(test_wait_status(t.first), SIGTERM);
	EXPECT_EQ(test_wait_status(t.second), SIGTERM);
	EXPECT_EQ(waitpid(t.other, NULL, WNOHANG), 0);
	end(t.other);
	EXPECT_ERRNO(kill(-t.first, SIGTERM), ESRCH);
}

TEST(a_wait_for_a_group)
{
	struct three t = make_three();
	pid_t group = t.first, got;
	siginfo_t info = { 0 };

	EXPECT_EQ(waitpid(-group, NULL, WNOHANG), 0);
	EXPECT_EQ(kill(t.other, SIGTERM), 0);
	EXPECT_EQ(waitid(P_PID, (id_t)t.other, &info, WEXITED | WNOWAIT), 0);
	/* The process that has ended is in another group. */
	EXPECT_EQ(waitpid(-group, NULL, WNOHANG), 0);
	info.si_pid = 9;
	EXPECT_EQ(waitid(P_PGID, (id_t)group, &info, WEXITED | WNOHANG), 0);
	EXPECT_EQ(info.si_pid, 0);
	EXPECT_EQ(kill(-group, SIGTERM), 0);
	got = waitpid(-group, NULL, 0);
	EXPECT(got == t.first || got == t.second);
	EXPECT_EQ(waitid(P_PGID, (id_t)group, &info, WEXITED), 0);
	EXPECT_EQ(info.si_pid, t.first + t.second - got);
	EXPECT_ERRNO(waitpid(-group, NULL, 0), ECHILD);
	/* 0 is the group of the caller. */
	EXPECT_EQ(waitid(P_PGID, 0, &info, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(info.si_pid, t.other);
	EXPECT_EQ(waitpid(0, NULL, 0), t.other);
	EXPECT_ERRNO(waitpid(0, NULL, 0), ECHILD);
	EXPECT_ERRNO(waitpid(INT_MIN, NULL, 0), ESRCH);
	EXPECT_ERRNO(waitid(P_PGID, (id_t)-1, &info, WEXITED), EINVAL);
}

/* Leads a new group of itself and two more processes, and signals it. */
static int
signal_own_group(void)
{
	pid_t pid[2];
	int good = 0, status;

	if (setpgid(0, 0) != 0 || getpgrp() != getpid())
		return 1;
	for (int i = 0; i < 2; i++)
		pid[i] = waiting_child();
	signal(SIGUSR1, test_note_signal);
	if (kill(0, SIGUSR1) != 0 || test_last_signal != SIGUSR1)
		return 2;
	for (int i = 0; i < 2; i++)
		good += waitpid(pid[i], &status, 0) == pid[i] &&
		        WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1;
	return good == 2 ? 7 : 3;
}

/* The test itself has no handler, and would end. */
TEST(a_signal_to_the_own_group)
{
	EXPECT_EQ(test_exit_code(child_of(signal_own_group)), 7);
}

static int
end_at_once(void)
{
	return 0;
}

TEST(a_group_lasts_until_its_last_process_was_waited_for)
{
	pid_t leader = waiting_child(), other = waiting_child();
	siginfo_t info;

	EXPECT_EQ(setpgid(leader, leader), 0);
	EXPECT_EQ(kill(leader, SIGTERM), 0);
	EXPECT_EQ(waitid(P_PID, (id_t)leader, &info, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(getpgid(leader), leader);
	EXPECT_EQ(setpgid(other, leader), 0);
	EXPECT_EQ(waitpid(leader, NULL, 0), leader);
	EXPECT_ERRNO(getpgid(leader), ESRCH);
	EXPECT_EQ(getpgid(other), leader);
	/* The group still has a process. */
	EXPECT_EQ(kill(-leader, SIGTERM), 0);
	EXPECT_EQ(waitpid(-leader, NULL, 0), other);
	EXPECT_ERRNO(setpgid(0, leader), EPERM);
}

static int
lead_session(void)
{
	pid_t self = getpid(), child;

	int good = setsid() == self && getsid(0) == self && getpgrp() == self;
	good += setsid() == -1 && errno == EPERM;
	good += setpgid(0, 0) == -1 && errno == EPERM;
	good += setpgid(0, getppid()) == -1 && errno == EPERM;
	child = waiting_child();
	good += getsid(child) == self && getpgid(child) == self;
	/* The group of the test is in another session. */
	good += setpgid(child, getppid()) == -1 && errno == EPERM;
	good += setpgid(child, child) == 0;
	kill(child, SIGKILL);
	good += waitpid(child, NULL, 0) == child;
	return good;
}

TEST(a_session)
{
	EXPECT_EQ(test_exit_code(child_of(lead_session)), 8);
	/* The leader of a group cannot begin one. */
	EXPECT_ERRNO(setsid(), EPERM);
}

static int ready[2];

static int
leave_and_wait(void)
{
	setsid();
	close(ready[1]);
	return pause();
}

TEST(a_child_in_another_session)
{
	char c;

	REQUIRE(pipe(ready) == 0);
	pid_t child = child_of(leave_and_wait);
	EXPECT_EQ(close(ready[1]), 0);
	EXPECT_EQ(read(ready[0], &c, 1), 0);
	EXPECT_EQ(getsid(child), child);
	EXPECT_ERRNO(setpgid(child, getpid()), EPERM);
	EXPECT_EQ(close(ready[0]), 0);
	end(child);
}

static void __attribute__((constructor(101))) obey_environment(void)
{
	while (getenv("GROUP_WAITS") != NULL)
		pause();
}

/* As in Linux, a parent moves a child only before its execve(2). */
TEST(a_child_that_executes_a_program)
{
	char *argv[] = { test_argv[0], NULL };
	char *envv[] = { "GROUP_WAITS=yes", NULL };
	int fd[2];
	pid_t child;
	char c;

	REQUIRE(pipe2(fd, O_CLOEXEC) == 0);
	if ((child = fork()) == 0) {
		execve(test_argv[0], argv, envv);
		_exit(1);
	}
	EXPECT_EQ(close(fd[1]), 0);
	EXPECT_EQ(read(fd[0], &c, 1), 0);
	EXPECT_ERRNO(setpgid(child, child), EACCES);
	EXPECT_EQ(getpgid(child), getpid());
	EXPECT_EQ(close(fd[0]), 0);
	end(child);
}

static int
move_parent(void)
{
	return setpgid(getppid(), 0) == -1 && errno == ESRCH ? 7 : 1;
}

TEST(errors)
{
	pid_t child = child_of(end_at_once);

	EXPECT_EQ(test_exit_code(child), 0);
	EXPECT_ERRNO(setpgid(child, 0), ESRCH);
	EXPECT_ERRNO(setpgid(-1, 0), ESRCH);
	EXPECT_ERRNO(setpgid(0, -1), EINVAL);
	EXPECT_ERRNO(setpgid(0, child), EPERM);
	EXPECT_ERRNO(getpgid(child), ESRCH);
	EXPECT_ERRNO(getpgid(-1), ESRCH);
	EXPECT_ERRNO(getsid(child), ESRCH);
	EXPECT_ERRNO(getsid(-1), ESRCH);
	EXPECT_ERRNO(kill(INT_MIN, 0), ESRCH);
	EXPECT_ERRNO(kill(-child, 0), ESRCH);
	EXPECT_EQ(test_exit_code(child_of(move_parent)), 7);
	/* A process is in its own group already. */
	EXPECT_EQ(setpgid(0, 0), 0);
	EXPECT_EQ(setpgid(getpid(), getpid()), 0);
}
