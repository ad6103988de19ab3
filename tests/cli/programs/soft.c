/*
 * A program with known numbers of the kernel's events, for
 * tests/cli/tools/stat_program.sh.
 *
 *     soft FAULTS SLEEPS MOVES
 *
 * It stores to address 0 FAULTS times, and handles the signal.  It sleeps
 * SLEEPS times for 1 ms.  It moves to CPU 1 or back to CPU 0 MOVES times.
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static sigjmp_buf again;

static void
handler(int sig)
{
	(void)sig;
	siglongjmp(again, 1);
}

int
main(int argc, char **argv)
{
	const struct timespec ms = { 0, 1000000 };
	int *volatile nowhere = NULL;
	cpu_set_t cpus;

	if (argc != 4)
		return 2;
	signal(SIGSEGV, handler);
	for (volatile long i = 0; i < atol(argv[1]); i++) {
		if (sigsetjmp(again, 1) == 0)
			*nowhere = 1;
	}
	for (long i = 0; i < atol(argv[2]); i++)
		nanosleep(&ms, NULL);
	for (long i = 0; i < atol(argv[3]); i++) {
		CPU_ZERO(&cpus);
		CPU_SET((i + 1) % 2, &cpus);
		if (sched_setaffinity(0, sizeof cpus, &cpus) == -1)
			return 1;
	}
	return 0;
}
