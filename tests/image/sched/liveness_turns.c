/*
 * LWPs that make system calls in a loop let another CPU run.  The emulator is a
 * stock QEMU, whose turns end at a timer only.  Two LWPs share CPU 0, so that
 * its slices are timed.  Without a second LWP no turn of QEMU 7.2 ends, even if
 * the first makes no system call.
 */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64); /* the C library keeps stacks of threads */

#define MS       1000000LL
#define NLOOPING 2
#define NAPS     8
#define NAP      (1 * MS)
#define LATEST   (16 * MS)  /* four slices: docs/design.md, "LWPs on CPUs" */
#define END      (200 * MS) /* the loops end even if CPU 1 does not run */

static volatile bool done;
static int64_t end;

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

static void
run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

static void *
loop_of_calls(void *arg)
{
	run_on(0);
	while (!done && now_ns() < end)
		getppid();
	return arg;
}

TEST(a_sleep_ends_next_to_loops_of_calls)
{
	const struct timespec nap = { .tv_nsec = NAP };
	int64_t longest = 0, before, late;
	pthread_t t[NLOOPING];

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("there is one CPU");
	run_on(1);
	end = now_ns() + END;
	for (int i = 0; i < NLOOPING; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, loop_of_calls, NULL), 0);
	for (int i = 0; i < NAPS; i++) {
		before = now_ns();
		nanosleep(&nap, NULL);
		late = now_ns() - before - NAP;
		longest = late > longest ? late : longest;
	}
	done = true;
	for (int i = 0; i < NLOOPING; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	test_note("%lld us late at most", (long long)longest / 1000);
	EXPECT(longest <= LATEST);
}
