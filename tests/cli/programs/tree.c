/*
 * A program for tests/cli/tools/stat.sh to count and tests/cli/tools/record.py
 * to profile. It and its children execute two instructions per turn, and musl's
 * instructions.
 *
 *     tree fork N TURNS    fork N children with TURNS turns each, and wait
 *     tree exec N TURNS    the same; each executes `tree turn TURNS`
 *     tree run N PROGRAM [ARGS]...
 *                          the same; each executes the program
 *     tree turn TURNS      make the turns itself
 *     tree next TURNS      execute `tree turn TURNS`
 *     tree vary            make a number of turns that the clock decides
 *     tree orphan          leave a child that does not end
 *     tree late MS         end after MS milliseconds with status 3, and leave
 *                          a child that does not yield the CPU
 *     tree cpu             bind a set to CPU 0 and close the handle
 *     tree fault           store to address 0
 */
#include <libcpc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "turns.h"

/* Fork n children, which execute the program, or make the turns if NULL. */
static int
children(long n, char **program, long turns)
{
	int status, failed = 0;
	pid_t pid;

	for (long i = 0; i < n; i++) {
		if ((pid = fork()) == -1)
			return 1;
		if (pid == 0) {
			if (program != NULL) {
				execv(program[0], program);
				_exit(1);
			}
			make_turns(turns);
			_exit(0);
		}
	}
	while (n-- > 0)
		failed |= wait(&status) == -1 || status != 0;
	return failed;
}

static int
make_random_turns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	make_turns(1 + ts.tv_nsec % 1000);
	return 0;
}

static int
leave_child(void)
{
	if (fork() == 0) {
		for (;;)
			pause();
	}
	return 0;
}

static int
end_late(long ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (fork() == 0) {
		for (;;)
			make_turns(1000);
	}
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 +
		   (now.tv_nsec - begin.tv_nsec) / 1000000 <
	       ms);
	return 3;
}

static int
bind_cpu(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = cpc_set_create(cpc);

	return cpc_set_add_request(cpc, set, "PAPI_tot_ins", 0, CPC_COUNT_USER,
		   0, NULL) == -1 ||
	       cpc_bind_cpu(cpc, 0, set, 0) == -1 || cpc_close(cpc) == -1;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char *turn[] = { argv[0], "turn", argv[argc - 1], NULL };

	if (argc == 4 && strcmp(what, "fork") == 0)
		return children(atol(argv[2]), NULL, atol(argv[3]));
	if (argc == 4 && strcmp(what, "exec") == 0)
		return children(atol(argv[2]), turn, 0);
	if (argc >= 4 && strcmp(what, "run") == 0)
		return children(atol(argv[2]), argv + 3, 0);
	if (argc == 3 && strcmp(what, "turn") == 0) {
		make_turns(atol(argv[2]));
		return 0;
	}
	if (argc == 3 && strcmp(what, "next") == 0)
		return execv(turn[0], turn);
	if (strcmp(what, "vary") == 0)
		return make_random_turns();
	if (strcmp(what, "orphan") == 0)
		return leave_child();
	if (argc == 3 && strcmp(what, "late") == 0)
		return end_late(atol(argv[2]));
	if (strcmp(what, "cpu") == 0)
		return bind_cpu();
	if (strcmp(what, "fault") == 0)
		*(volatile int *)(uintptr_t)(argc - 2) = 0;
	return 2;
}
