/*
 * stat and record end their program by the clock and by Ctrl-C, not by the
 * program's own signals.  A Ctrl-C that comes as the program ends is not lost.
 */
#include "tests/lib/host/support.h"

#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "include/sys/barecpc.h"
#include "payloads/tools/child.h"

#define CTRL_C 3

static bool has_key, spares_child;

/* The console's keys: BARECPC_SCREEN_KEY returns a key and 1. */
long __wrap_syscall(long number, long what);
long
__wrap_syscall(long number, long what)
{
	bool key = has_key;

	assert_int_equal(number, BARECPC_SYS_SCREEN);
	assert_int_equal(what, BARECPC_SCREEN_KEY);
	has_key = false;
	return key ? 1 + CTRL_C : 0;
}

int __real_kill(pid_t pid, int sig);
int __wrap_kill(pid_t pid, int sig);
int
__wrap_kill(pid_t pid, int sig)
{
	return spares_child ? 0 : __real_kill(pid, sig);
}

/* A program that sends SIGALRM so often, and ends after a time. */
static pid_t
start_program(unsigned signals, unsigned ms)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	while (signals-- > 0) {
		usleep(10000);
		__real_kill(getppid(), SIGALRM);
	}
	usleep(1000 * ms);
	_exit(5);
}

TEST(signals_of_the_program_are_no_time)
{
	struct child_keys ck;

	signal(SIGALRM, SIG_IGN);
	assert_int_equal(
	    child_wait(start_program(3, 10), "it", 60000, NULL), 5);
	assert_int_equal(child_wait(start_program(3, 10), "it", 60000, &ck), 5);
	assert_false(ck.ck_came || ck.ck_cut);
	assert_int_equal(
	    child_wait(start_program(0, 60000), "it", 20, NULL), 128 + SIGKILL);
}

TEST(ctrl_c_ends_the_program)
{
	struct child_keys ck;

	has_key = true;
	assert_int_equal(
	    child_wait(start_program(0, 60000), "it", 0, &ck), 128 + SIGKILL);
	assert_true(ck.ck_came && ck.ck_cut);
	assert_int_equal(ck.ck_looks, 1);
}

/* As if the program had ended when the signal was sent. */
TEST(ctrl_c_at_the_end_is_not_lost)
{
	struct child_keys ck;

	has_key = spares_child = true;
	assert_int_equal(child_wait(start_program(0, 300), "it", 0, &ck), 5);
	assert_true(ck.ck_came && !ck.ck_cut);
	spares_child = false;
}
