/* Calls that make, end and wait for processes and LWPs. */
#define _GNU_SOURCE /* CLONE_VM */
#include "tests/image/hostile/alloc_fail/turns.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/image/test.h"

#define THREAD                                                                 \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |    \
	    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID)

static char stack[16384] __attribute__((aligned(16)));
static volatile pid_t tid;

long
turn_forked(long r)
{
	if (r == 0)
		_exit(0);
	return r;
}

void
turn_reap(long r)
{
	int status = -1;

	if (r > 0) {
		EXPECT_EQ(waitpid((pid_t)r, &status, 0), r);
		EXPECT_EQ(status, 0);
	}
}

static long
make_fork(void)
{
	return turn_forked(turn_raw(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int
end_child(void *arg)
{
	_exit(0);
}

static long
make_vfork(void)
{
	long r = test_vfork(end_child, NULL);

	return r == -1 ? -errno : r;
}

static int
end_thread(void)
{
	return 0;
}

long
turn_make_thread(void)
{
	tid = 1;
	return clone_thread(
	    end_thread, stack + sizeof stack, THREAD, (void *)&tid);
}

void
turn_join(long r)
{
	while (r > 0 && tid != 0)
		turn_raw(SYS_futex, (uintptr_t)&tid, 0, 1, 0, 0);
}

/* Without arguments mix_exec exits with 1 before it allocates memory. */
static char program[] = "mix_exec";
static char *argv[] = { program, NULL }, *envv[] = { NULL };

long
turn_make_execve(void)
{
	return turn_raw(SYS_execve, (uintptr_t)program, (uintptr_t)argv,
	    (uintptr_t)envv, 0, 0);
}

static pid_t child;

static void
child_ends(void)
{
	if ((child = fork()) == 0)
		_exit(0);
}

static long
make_wait4(void)
{
	return turn_raw(SYS_wait4, (uintptr_t)child, TURN_P, 0, 0, 0);
}

static long
make_waitid(void)
{
	return turn_raw(
	    SYS_waitid, P_PID, (uintptr_t)child, TURN_P, WEXITED, 0);
}

const struct turn_call turn_processes[] = {
	TURN_MADE("clone of a process", SYS_clone, NULL, make_fork, turn_reap,
	    .tc_least = 20),
	TURN_MADE("clone as by vfork", SYS_clone, NULL, make_vfork, turn_reap,
	    .tc_least = 4),
	TURN_MADE("clone of an LWP", SYS_clone, NULL, turn_make_thread,
	    turn_join, .tc_least = 4),
	TURN_MADE("execve", SYS_execve, NULL, turn_make_execve, NULL,
	    .tc_exit = 1, .tc_child = true, .tc_least = 20),
	TURN_MADE("wait4", SYS_wait4, child_ends, make_wait4, NULL),
	TURN_MADE("waitid", SYS_waitid, child_ends, make_waitid, NULL),
	TURN_CALL("setpgid", SYS_setpgid, (0, 0)),
	TURN_CALL("getpgid", SYS_getpgid, (0)),
	TURN_CALL("getsid", SYS_getsid, (0)),
	TURN_CALL("setsid", SYS_setsid, (0), .tc_child = true),
	TURN_CALL("exit", SYS_exit, (0), .tc_child = true),
	TURN_CALL("exit_group", SYS_exit_group, (0), .tc_child = true),
	TURN_CALL(
	    "set_tid_address", SYS_set_tid_address, (0), .tc_child = true),
	{ 0 },
};
