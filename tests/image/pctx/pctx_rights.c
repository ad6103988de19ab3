/* A caller controls only what it may, and cannot stop itself for ever. */
#include "tests/image/pctx/pctx_test.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/barecpc.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64);

long syscall(long, ...);

static long
control(int op, pid_t pid, long a, void *b)
{
	return syscall(BARECPC_SYS_CONTROL, (long)op, (long)pid, a, b);
}

/* Is there the privilege cpc_cpu(5)?  tests/list also runs without it. */
static bool
may_capture_all(void)
{
	cpc_t *cpc = test_cpc_open();

	if (cpc == NULL)
		return true;
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	bool may = cpc_bind_cpu(cpc, 0, set, 0) == 0;
	cpc_close(cpc);
	return may;
}

static pid_t
sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

static void
end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

/* A process that the caller does not control, and numbers that are none. */
TEST(only_the_controller_controls)
{
	static const int ops[] = { BARECPC_CONTROL_WAIT, BARECPC_CONTROL_CANCEL,
		BARECPC_CONTROL_NEXT_LWP, BARECPC_CONTROL_ARGS,
		BARECPC_CONTROL_RELEASE, BARECPC_CONTROL_GIVE };
	char room[256];
	pid_t pid = sleeper();

	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
		EXPECT_ERRNO(control(ops[i], pid, 16, room), ESRCH);
		EXPECT_ERRNO(control(ops[i], getpid(), 16, room), ESRCH);
		EXPECT_ERRNO(control(ops[i], 0, 16, room), ESRCH);
		EXPECT_ERRNO(control(ops[i], -1, 16, room), ESRCH);
	}
	EXPECT_ERRNO(control(8, pid, 0, NULL), EINVAL);
	EXPECT_ERRNO(control(-1, pid, 0, NULL), EINVAL);
	end_child(pid);
}

/* A bad pointer loses no event. */
TEST(bad_pointers)
{
	pctx_t *px = target("spin", "10", NULL);
	struct barecpc_control_event ev;

	REQUIRE(px != NULL);
	/* Nothing else was forked since: its number is the next below. */
	pid_t pid = sleeper();
	end_child(pid--);
	EXPECT_ERRNO(control(BARECPC_CONTROL_WAIT, pid, -1, NULL), EFAULT);
	EXPECT_ERRNO(control(BARECPC_CONTROL_ARGS, pid, 10, NULL), EFAULT);
	EXPECT_ERRNO(control(BARECPC_CONTROL_ARGS, pid, 0, &ev), EINVAL);
	EXPECT_EQ(control(BARECPC_CONTROL_ARGS, pid, 6, &ev), 0);
	EXPECT(strcmp((char *)&ev, "pctx_") == 0);
	EXPECT_EQ(control(BARECPC_CONTROL_WAIT, pid, -1, &ev), 0);
	EXPECT_EQ(ev.be_what, BARECPC_EVENT_EXIT);
	EXPECT_EQ(ev.be_arg, 7);
	pctx_release(px);
}

/* Without cpc_cpu(5) a process captures its descendants only. */
TEST(capture_needs_a_descendant_or_the_privilege)
{
	bool may = may_capture_all();
	pid_t other = sleeper(), pid;

	if ((pid = fork()) == 0) {
		bool went =
		    control(BARECPC_CONTROL_CAPTURE, other, 0, NULL) == 0;

		_exit(went == may && (went || errno == EPERM) ? 0 : 1);
	}
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_EQ(control(BARECPC_CONTROL_CAPTURE, other, 0, NULL), 0);
	EXPECT_EQ(control(BARECPC_CONTROL_RELEASE, other, 0, NULL), 0);
	end_child(other);
}

/* Two processes that controlled each other would both stop. */
TEST(control_is_never_mutual)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		for (;;) {
			if (control(BARECPC_CONTROL_CAPTURE, getppid(), 0,
				NULL) == 0)
				_exit(1);
			if (errno == EDEADLK)
				_exit(0);
			if (errno == EPERM)
				_exit(2);
			sched_yield();
		}
	}
	EXPECT_EQ(control(BARECPC_CONTROL_CAPTURE, pid, 0, NULL), 0);
	for (;;) {
		struct barecpc_control_event ev;

		if (control(BARECPC_CONTROL_WAIT, pid, -1, &ev) == -1)
			break;
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	status = WEXITSTATUS(status);
	EXPECT(status == (may_capture_all() ? 0 : 2));
}

/* A child that asks to be controlled waits at its exit, until it is killed. */
TEST(a_volunteer_waits_for_its_parent)
{
	struct barecpc_control_event ev = { 0 };
	struct timespec ms5 = { 0, 5000000 };
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		control(BARECPC_CONTROL_ME, 0, 0, NULL);
		/* Once only. */
		_exit(control(BARECPC_CONTROL_ME, 0, 0, NULL) == -1 &&
			      errno == EBUSY
			  ? 4
			  : 5);
	}
	nanosleep(&ms5, NULL);
	EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
	EXPECT_EQ(control(BARECPC_CONTROL_WAIT, pid, -1, &ev), 0);
	EXPECT_EQ(ev.be_what, BARECPC_EVENT_EXIT);
	EXPECT_EQ(ev.be_arg, 4);
	/* Released before it has exited, it is killed. */
	EXPECT_EQ(control(BARECPC_CONTROL_RELEASE, pid, 0, NULL), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

	/* SIGKILL ends a process that is stopped. */
	if ((pid = fork()) == 0) {
		control(BARECPC_CONTROL_ME, 0, 0, NULL);
		_exit(0);
	}
	nanosleep(&ms5, NULL);
	end_child(pid);
}

/* A fork that the controller never learns of: `end` ends the control. */
static void
fork_unseen(void (*end)(pid_t pid))
{
	struct timespec ms5 = { 0, 5000000 };
	struct pollfd pfd = { .events = POLLIN };
	int pipes[2];
	pid_t pid;

	REQUIRE(pipe(pipes) == 0);
	if ((pid = fork()) == 0) {
		control(BARECPC_CONTROL_ME, 0, 0, NULL);
		if (fork() == 0)
			write(pipes[1], "", 1);
		_exit(0);
	}
	close(pipes[1]);
	nanosleep(&ms5, NULL);
	end(pid);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	pfd.fd = pipes[0];
	EXPECT_EQ(poll(&pfd, 1, 1000), 1);
	EXPECT(pfd.revents & POLLIN);
	close(pipes[0]);
}

static void
release_process(pid_t pid)
{
	EXPECT_EQ(control(BARECPC_CONTROL_RELEASE, pid, 0, NULL), 0);
}

static void
kill_process(pid_t pid)
{
	EXPECT_EQ(kill(pid, SIGKILL), 0);
}

TEST(the_child_of_an_unseen_fork_goes_on)
{
	fork_unseen(release_process);
	fork_unseen(kill_process);
}

static void *
do_nothing(void *arg)
{
	return arg;
}

/* It is stopped, and has an LWP that has not run yet. */
TEST(a_process_that_makes_an_lwp_can_be_killed)
{
	struct timespec ms5 = { 0, 5000000 };
	int turns = 200;
	pthread_t t;
	pid_t pid;

	if ((pid = fork()) == 0) {
		control(BARECPC_CONTROL_ME, 0, 0, NULL);
		pthread_create(&t, NULL, do_nothing, NULL);
		_exit(0);
	}
	nanosleep(&ms5, NULL);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	while (waitpid(pid, NULL, WNOHANG) == 0 && turns-- > 0)
		nanosleep(&ms5, NULL);
	EXPECT(turns > 0);
	control(BARECPC_CONTROL_RELEASE, pid, 0, NULL);
}

/* The run's first process has no parent. */
TEST(the_first_process_has_no_controller)
{
	if (getppid() != 0)
		SKIP("this is not the first process");
	EXPECT_ERRNO(control(BARECPC_CONTROL_ME, 0, 0, NULL), ESRCH);
}

/* A controlled process goes to children of the caller only. */
TEST(a_process_is_given_to_a_child)
{
	pid_t pid = sleeper(), heir = sleeper();

	EXPECT_EQ(control(BARECPC_CONTROL_CAPTURE, pid, 0, NULL), 0);
	EXPECT_ERRNO(control(BARECPC_CONTROL_GIVE, pid, getpid(), NULL), ESRCH);
	EXPECT_ERRNO(control(BARECPC_CONTROL_GIVE, pid, pid, NULL), EDEADLK);
	EXPECT_EQ(control(BARECPC_CONTROL_GIVE, pid, heir, NULL), 0);
	EXPECT_ERRNO(control(BARECPC_CONTROL_RELEASE, pid, 0, NULL), ESRCH);
	/* It is not killed with its controller. */
	end_child(heir);
	EXPECT_EQ(kill(pid, 0), 0);
	end_child(pid);
}

/* A controller that executes a program releases what it controls. */
TEST(exec_of_the_controller_releases)
{
	char *argv[] = { "pctx_target", "spin", "10", NULL };
	pid_t pid = sleeper(), controller;
	int status = -1;

	if ((controller = fork()) == 0) {
		/* Without the privilege it cannot: then this tests nothing. */
		control(BARECPC_CONTROL_CAPTURE, pid, 0, NULL);
		execv(argv[0], argv);
		_exit(99);
	}
	EXPECT_EQ(waitpid(controller, &status, 0), controller);
	EXPECT_EQ(WEXITSTATUS(status), 7);
	EXPECT_EQ(control(BARECPC_CONTROL_CAPTURE, pid, 0, NULL), 0);
	end_child(pid);
}

/* Two programs run at once, one writing to the other. */
TEST(a_pipe_of_two_programs)
{
	char *argv[] = { "pctx_target", "line", NULL };
	char line[16] = "";
	int pipes[2];
	pid_t pid;

	REQUIRE(pipe(pipes) == 0);
	if ((pid = fork()) == 0) {
		dup2(pipes[1], 1);
		execv(argv[0], argv);
		_exit(99);
	}
	close(pipes[1]);
	EXPECT_EQ(read(pipes[0], line, sizeof line), 7);
	EXPECT(strcmp(line, "target\n") == 0);
	close(pipes[0]);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}
