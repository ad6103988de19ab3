/*
 * LWPs that make system calls in a loop let another CPU run.  The emulator is a
 * stock QEMU, whose turns end at a timer only.  Two LWPs share CPU 0, so that
 * its slices are timed.  Without a second LWP no turn of QEMU 7.2 ends, even if
 * the first makes no system call.
 */
#include "tests/lib/image/test.h"

#include <pthread.h>
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

static void *
loop_of_calls(void *arg)
{
	test_run_on(0);
	while (!done && test_now_ns() < end)
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
	test_run_on(1);
	end = test_now_ns() + END;
	for (int i = 0; i < NLOOPING; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, loop_of_calls, NULL), 0);
	for (int i = 0; i < NAPS; i++) {
		before = test_now_ns();
		nanosleep(&nap, NULL);
		late = test_now_ns() - before - NAP;
		longest = late > longest ? late : longest;
	}
	done = true;
	for (int i = 0; i < NLOOPING; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	test_note("%lld us late at most", (long long)longest / 1000);
	EXPECT(longest <= LATEST);
}
