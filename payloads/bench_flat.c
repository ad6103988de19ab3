/*
 * `bench flat`: the same operations beside ever more LWPs, each of which
 * waits for a word of its own and for a time of its own.
 */
#include "payloads/bench.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX   1000
#define STACK 16384

/* futex(2) */
#define WAIT 128 /* FUTEX_WAIT, private */
#define WAKE 129

static int word[MAX], pair;
static pthread_t waiter[MAX], partner;
static int self;

static void
give_up(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(err));
	exit(1);
}

static void *
wait_long(void *arg)
{
	int *w = arg;
	const struct timespec long_time = { 3600 + (w - word), 0 };

	while (*(volatile int *)w == 0)
		syscall(SYS_futex, w, WAIT, 0, &long_time);
	return NULL;
}

/* The other side of wake(): it waits first, and ends with a pair of 2. */
static void *
answer(void *arg)
{
	const struct timespec second = { 1, 0 };

	while (*(volatile int *)&pair != 2) {
		syscall(SYS_futex, &pair, WAIT, 0, &second);
		syscall(SYS_futex, &pair, WAKE, 1);
	}
	return arg;
}

static pthread_t
start(void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if ((err = pthread_create(&t, &attr, fn, arg)) != 0)
		give_up("an LWP", err);
	pthread_attr_destroy(&attr);
	return t;
}

static void
null_call(void)
{
	getpid();
}

static void
find_lwp(void)
{
	syscall(SYS_tkill, self, 0);
}

static void
find_process(void)
{
	kill(self, 0);
}

static void
wake_nobody(void)
{
	syscall(SYS_futex, &self, WAKE, 1);
}

/* Wake the partner and wait for it, both with a time limit. */
static void
wake_and_wait(void)
{
	const struct timespec second = { 1, 0 };

	syscall(SYS_futex, &pair, WAKE, 1);
	syscall(SYS_futex, &pair, WAIT, 0, &second);
}

static void
rows(int n)
{
	bench_row("null call", n, bench_cost(null_call));
	bench_row("find LWP", n, bench_cost(find_lwp));
	bench_row("find process", n, bench_cost(find_process));
	bench_row("wake nobody", n, bench_cost(wake_nobody));
	bench_row("wake and wait", n, bench_cost(wake_and_wait));
	bench_switch(NULL, NULL, n);
}

int
bench_flat(void)
{
	static const int steps[] = { 1, 10, 100, MAX };
	int n = 0;

	self = getpid();
	partner = start(answer, NULL);
	printf("%-19s %2s %6s\n", "operation", "n", "cost");
	for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
		for (; n < steps[i]; n++)
			waiter[n] = start(wait_long, &word[n]);
		/* All of them wait once this LWP's turn comes again. */
		sched_yield();
		rows(n);
	}
	pair = 2;
	syscall(SYS_futex, &pair, WAKE, 1);
	pthread_join(partner, NULL);
	while (n-- > 0) {
		word[n] = 1;
		syscall(SYS_futex, &word[n], WAKE, 1);
		pthread_join(waiter[n], NULL);
	}
	return 0;
}
