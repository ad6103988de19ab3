/*
 * CPUs run side by side, also where an emulator runs one after the other.
 *
 * The emulator of scripts/qemu-pmu ends a CPU's turn after TURN_US.  An event
 * on another CPU is seen after at most one turn of each CPU.  An LWP that waits
 * for another CPU in a loop then goes on after three turns at most.
 * Stock QEMU's turns take up to 100 ms, and end early only at a timer.  Then
 * these tests skip, by measurement.
 */
#include "tests/lib/image/crowd.h"
#include "tests/lib/image/test.h"

#include <pthread.h>
#include <sys/processor.h>

TEST_KEEPS(64);

#define TURN_US   20
#define MOST_US   (3 * TURN_US)
#define LONG_TURN 200000 /* us; as stock QEMU takes */
#define ROUNDS    100
#define NBUSY     8

static struct crowd crowd;
static volatile int ball, ready;

/* Answer each odd number with the next even one. */
static void *
answer(void *arg)
{
	crowd_bind_self(1);
	for (int i = 1; i < 2 * ROUNDS; i += 2) {
		ready = 1;
		while (ball != i)
			;
		ball = i + 1;
	}
	return arg;
}

/* Time in us of ROUNDS hand-overs to the LWP on CPU 1 and back. */
static int64_t
play(void)
{
	pthread_t t;

	crowd_bind_self(0);
	ball = ready = 0;
	EXPECT_EQ(pthread_create(&t, NULL, answer, NULL), 0);
	while (!ready)
		;
	int64_t start = crowd_now_us();
	for (int i = 0; i < 2 * ROUNDS; i += 2) {
		ball = i + 1;
		while (ball != i + 2)
			;
	}
	start = crowd_now_us() - start;
	EXPECT_EQ(pthread_join(t, NULL), 0);
	crowd_bind_self(PBIND_NONE);
	return start;
}

static void *
get_ready(void *arg)
{
	ready = 1;
	return arg;
}

/* Does a new LWP on another CPU begin while this one spins? */
static bool
side_by_side(void)
{
	pthread_t t;
	int64_t start = crowd_now_us();

	ready = 0;
	EXPECT_EQ(pthread_create(&t, NULL, get_ready, NULL), 0);
	while (!ready && crowd_now_us() < start + LONG_TURN)
		;
	bool began = ready;
	pthread_join(t, NULL);
	return began;
}

#define NEEDS_TWO()                                                            \
	do {                                                                   \
		if (crowd_ncpu() < 2)                                          \
			SKIP("needs two CPUs");                                \
		if (!side_by_side())                                           \
			SKIP("needs CPUs that run at once: others "            \
			     "stand still while one spins");                   \
	} while (0)

static bool
sleeps_end_in_time(void)
{
	int64_t late = crowd_worst_late_us(TURN_US);

	test_note("a sleep of %d us ended %ld us late", TURN_US, (long)late);
	return late <= MOST_US;
}

TEST(an_idle_cpu_wakes_within_three_turns)
{
	NEEDS_TWO();
	crowd_start(&crowd, 1, 0);
	crowd_bind_self(1);
	EXPECT(test_holds_once(sleeps_end_in_time));
	crowd_bind_self(PBIND_NONE);
	crowd_end(&crowd);
}

static bool
balls_return_in_time(void)
{
	int64_t us = play();

	test_note("%d rounds took %ld us", ROUNDS, (long)us);
	return us <= 2 * ROUNDS * MOST_US;
}

TEST(spinning_cpus_hand_over_within_three_turns)
{
	NEEDS_TWO();
	EXPECT(test_holds_once(balls_return_in_time));
}

/* More LWPs than CPUs: each CPU runs some of them. */
TEST(busy_lwps_use_all_cpus)
{
	unsigned used[CROWD_MAX] = { 0 };
	unsigned ncpu = crowd_ncpu();

	NEEDS_TWO();
	if (ncpu > NBUSY)
		SKIP("needs at most %d CPUs", NBUSY);
	crowd_start(&crowd, NBUSY, -1);
	for (unsigned i = 0; i < NBUSY; i++)
		used[crowd_where(&crowd, i) % CROWD_MAX]++;
	for (unsigned i = 0; i < ncpu; i++)
		EXPECT(used[i] > 0);
	crowd_end(&crowd);
}
