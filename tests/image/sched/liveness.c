/* LWPs that call or yield in a loop do not keep a CPU out of the kernel. */
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

TEST_KEEPS(64); /* the C library keeps stacks of threads */

#define NLOOPING 3
#define LENGTHS  256   /* of a loop */
#define CALLS    3     /* for each length */
#define SPINS    20000 /* between two calls */

/* 1 ms until a CPU demands the lock (xcall.c), and an emulator's turns. */
#define LONGEST_US 2000

static volatile bool done;

/* An emulator's turn may end at one instruction: loops have many lengths. */
static volatile unsigned padding;

static void
pad(void)
{
	for (unsigned i = padding % 8; i > 0; i--)
		__asm__ volatile("nop");
	for (unsigned i = padding / 8; i > 0; i--)
		__asm__ volatile("nop; nop; nop; nop; nop");
}

static void *
loop_of_calls(void *arg)
{
	test_run_on(0);
	while (!done) {
		getppid();
		pad();
	}
	return arg;
}

static void *
loop_of_yields(void *arg)
{
	test_run_on(0);
	while (!done) {
		sched_yield();
		pad();
	}
	return arg;
}

/* The longest time of a system call on CPU 1, next to n such loops on CPU 0. */
static int64_t
longest_call(void *(*loop)(void *), int n)
{
	int64_t longest = 0, before, took;
	pthread_t t[NLOOPING];

	test_run_on(1);
	done = false;
	for (int i = 0; i < n; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, loop, NULL), 0);
	for (padding = 0; padding < LENGTHS; padding++) {
		for (int i = 0; i < CALLS; i++) {
			spin_loop(SPINS);
			before = test_now_ns();
			getppid();
			took = test_now_ns() - before;
			longest = took > longest ? took : longest;
		}
	}
	done = true;
	for (int i = 0; i < n; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	test_note("the longest call took %lld us", (long long)longest / 1000);
	return longest;
}

static void
expect_short_calls(void *(*loop)(void *), int n)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("there is one CPU");
	EXPECT(longest_call(loop, n) / 1000 <= LONGEST_US);
}

TEST(a_loop_of_calls_lets_the_other_cpu_in)
{
	expect_short_calls(loop_of_calls, 1);
}

TEST(lwps_that_yield_let_the_other_cpu_in)
{
	expect_short_calls(loop_of_yields, NLOOPING);
}
