/*
 * The program that the tests of this folder control.  Its first argument says
 * what it does:
 *
 *     spin N          run a loop of N turns, exit with 7
 *     lwp N           an LWP runs the loop and ends, exit with 3
 *     exec WHAT N     execute pctx_target WHAT N
 *     exec2 N         the same from LWP 2, while LWP 1 sleeps
 *     noexec          fail to execute a program, exit with 5
 *     fork N, vfork   a child runs the loop or sleeps 100 ms, wait for it
 *     loop            run for ever
 *     sleep           sleep for ever
 *     kill            end by a signal
 *     disable N       cpc_disable(), run the loop, cpc_enable()
 *     own N           bind a set of its own, run the loop
 *     marked usr N    count user mode (sys: system mode) in the loop only
 *     overflow N      run loops of 5,000 turns, exit with the number of SIGEMT
 *     denied          may it bind a set?  exit with errno
 *     race            two LWPs call exit(2) at once
 *     line            write a line to stdout
 *     retire N        tell the software PMU of N instructions of programs, and
 *                     of 10 * N of the kernel
 */
#define _GNU_SOURCE /* CLONE_VM */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cpc.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libcpc.h>
#include <sys/cpc.h>

/* Two instructions a turn: payloads/common. */
void spin_loop(uint64_t turns);

static uint64_t turns;
static char **words;
static volatile int nsignals;

/* The loop, told to a software PMU; any other refuses the call. */
static void
work(uint64_t n)
{
	spin_loop(n);
	cpc_syscall(CPC_OP_ADVANCE, 2 * n, CPC_COUNT_USER, 0, 0);
	cpc_syscall(CPC_OP_ADVANCE, 2 * n, CPC_COUNT_SYSTEM, 0, 0);
}

static void *
run_loop(void *arg)
{
	work(turns);
	return arg;
}

static void *
run_exec(void *arg)
{
	char *again[] = { words[0], "spin", words[2], NULL };

	execv(words[0], again);
	return arg;
}

static void *
end_all(void *arg)
{
	_exit(9);
	return arg;
}

static void *
sleep_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void
in_another_lwp(void *(*fn)(void *))
{
	pthread_t t;

	pthread_create(&t, NULL, fn, NULL);
	pthread_join(t, NULL);
}

static void
count_signal(int sig)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	(void)sig;
	nsignals++;
	cpc_set_restart(cpc, NULL); /* the controller's set */
	cpc_close(cpc);
}

/* The handle has bound nothing, yet it disables the context. */
static int
disabled_loop(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	if (cpc_disable(cpc) != 0)
		return 1;
	work(turns);
	return cpc_enable(cpc) != 0;
}

static int
marked_loop(int (*count)(int enable))
{
	work(2 * turns);
	if (count(1) != 0)
		return errno;
	work(turns);
	if (count(0) != 0)
		return errno;
	work(2 * turns);
	return 0;
}

static int
own_set(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	cpc_set_t *set = cpc_set_create(cpc);

	cpc_set_add_request(
	    cpc, set, "PAPI_tot_cyc", 0, CPC_COUNT_USER, 0, NULL);
	if (cpc_bind_curlwp(cpc, set, 0) != 0)
		return errno;
	work(turns);
	return 0;
}

static int
sleep_100_ms(void *arg)
{
	struct timespec ms100 = { 0, 100000000 };

	(void)arg;
	nanosleep(&ms100, NULL);
	_exit(2);
}

/* musl's vfork() is a fork() on arm64. */
static pid_t
make_vfork(void)
{
	static char stack[16384] __attribute__((aligned(16)));

	return clone(sleep_100_ms, stack + sizeof stack,
	    CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
}

static int
in_child(bool vforked)
{
	pid_t pid = vforked ? make_vfork() : fork();
	int status = -1;

	if (pid == 0) {
		work(turns);
		_exit(2);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/* One call to a software PMU is one overflow at most. */
static void
work_in_parts(void)
{
	for (uint64_t done = 0; done < turns; done += 5000)
		work(5000);
}

static int
obey(const char *what)
{
	pthread_t t;

	if (strcmp(what, "spin") == 0)
		return work(turns), 7;
	if (strcmp(what, "lwp") == 0)
		return in_another_lwp(run_loop), 3;
	if (strcmp(what, "exec") == 0) {
		char *again[] = { words[0], words[2], words[3], NULL };

		execv(words[0], again);
	}
	if (strcmp(what, "exec2") == 0)
		in_another_lwp(run_exec);
	if (strcmp(what, "noexec") == 0)
		return execv("/no/such", words), 5;
	if (strcmp(what, "fork") == 0 || strcmp(what, "vfork") == 0)
		return in_child(*what == 'v');
	if (strcmp(what, "loop") == 0) {
		for (;;)
			spin_loop(1000);
	}
	if (strcmp(what, "sleep") == 0)
		sleep_for_ever(NULL);
	if (strcmp(what, "kill") == 0)
		kill(getpid(), SIGTERM);
	if (strcmp(what, "disable") == 0)
		return disabled_loop();
	if (strcmp(what, "own") == 0 || strcmp(what, "denied") == 0)
		return own_set();
	if (strcmp(what, "marked") == 0)
		return marked_loop(*words[2] == 'u' ? cpc_count_usr_events
						    : cpc_count_sys_events);
	if (strcmp(what, "overflow") == 0) {
		signal(SIGEMT, count_signal);
		return work_in_parts(), nsignals;
	}
	if (strcmp(what, "race") == 0) {
		pthread_create(&t, NULL, end_all, NULL);
		end_all(NULL);
	}
	if (strcmp(what, "retire") == 0) {
		cpc_syscall(CPC_OP_ADVANCE, turns, CPC_COUNT_USER, 0, 0);
		cpc_syscall(CPC_OP_ADVANCE, 10 * turns, CPC_COUNT_SYSTEM, 0, 0);
		return 0;
	}
	if (strcmp(what, "line") == 0)
		return write(1, "target\n", 7) != 7;
	return 99;
}

int
main(int argc, char **argv)
{
	words = argv;
	if (argc < 2)
		return 99;
	turns = argc > 2 ? strtoull(argv[argc - 1], NULL, 0) : 0;
	return obey(argv[1]);
}
