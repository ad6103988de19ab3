/*
 * A program whose functions execute known shares of its instructions, for
 * tests/cli/tools/record.py.
 *
 *     shares ROUNDS THREADS
 *
 * In each round of each thread, one() executes 1/ROUNDS of a million
 * instructions, two() of two, three() of three, and four() of four million.
 */
#include <pthread.h>
#include <stdlib.h>

#include "turns.h"

#define MILLION 1000000L

static long rounds;

#define SHARE(name, n)                                                         \
	static void __attribute__((noinline)) name(void)                       \
	{                                                                      \
		make_turns(n *MILLION / 2 / rounds);                           \
	}
SHARE(one, 1)
SHARE(two, 2)
SHARE(three, 3)
SHARE(four, 4)

static void *
run_rounds(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		one();
		two();
		three();
		four();
	}
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t t[16];

	if (argc != 3)
		return 2;
	rounds = atol(argv[1]);
	int n = atoi(argv[2]);
	for (int i = 1; i < n; i++) {
		if (pthread_create(&t[i], NULL, run_rounds, NULL) != 0)
			return 1;
	}
	run_rounds(NULL);
	for (int i = 1; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
