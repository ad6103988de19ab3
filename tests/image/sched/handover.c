/*
 * An LWP that is blocked on a mutex gets it, although another LWP unlocks it
 * and locks it again in a loop.
 *
 * The bound is TURNS turns of that loop.  Each unlock is a futex wake, because
 * the C library counts the blocked LWP as a waiter until it has the mutex.  At
 * the 8th wake on one address the kernel lets the woken LWP run before the
 * waker (kern/proc/futex/futex.c).  The waker then has no mutex, so the woken
 * LWP gets it.  If the 8th wake finds no LWP asleep, the woken LWP has just
 * lost and is on its way back to sleep.  That takes it less than 1,000
 * instructions.  A turn has at least 150, because it makes a system call.  So
 * at most 7 more turns pass until a wake finds it.
 */
#include "tests/lib/image/crowd.h"
#include "tests/lib/image/test.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <unistd.h>

TEST_KEEPS(64);

#define TURNS     (8 + 7)
#define ROUNDS    20
#define TOO_MANY  200000
#define REQUEUE   (3 | 128) /* FUTEX_REQUEUE, private */
#define LOCK_WORD 1         /* of musl's pthread_mutex_t: _m_lock */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned turns, got_at;
static volatile bool begun, got;

static void
work(int loops)
{
	for (volatile int i = 0; i < loops; i++)
		;
}

/* The number of LWPs that sleep on the mutex: all move to aside, and back. */
static long
count_blocked(void)
{
	static uint32_t aside;
	uint32_t *word = (uint32_t *)&mutex + LOCK_WORD;
	long n = syscall(SYS_futex, word, REQUEUE, 0, 1000L, &aside, 0);

	syscall(SYS_futex, &aside, REQUEUE, 0, 1000L, word, 0);
	return n;
}

static void *
block_on_mutex(void *arg)
{
	crowd_bind_self((int)(intptr_t)arg);
	begun = true;
	pthread_mutex_lock(&mutex);
	got_at = turns;
	got = true;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Unlock and lock until the other LWP had the mutex: the turns. */
static unsigned
turns_to_hand_over(int cpu, int inside, int outside, bool two)
{
	void *where = (void *)(intptr_t)cpu;
	pthread_t t;

	turns = 0;
	begun = got = false;
	pthread_mutex_lock(&mutex);
	int err = pthread_create(&t, NULL, block_on_mutex, where);
	if (!EXPECT_EQ(err, 0))
		return TOO_MANY;
	while (!begun || count_blocked() != 1)
		crowd_sleep_us(100);
	while (!got && turns < TOO_MANY) {
		turns = turns + 1;
		pthread_mutex_unlock(&mutex);
		work(outside);
		if (two) {
			pthread_mutex_lock(&second);
			pthread_mutex_unlock(&second);
		}
		pthread_mutex_lock(&mutex);
		work(inside);
	}
	pthread_mutex_unlock(&mutex);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	return got_at;
}

static void
expect_handover(int cpu, int inside, int outside, bool two)
{
	unsigned n, most = 0;

	crowd_bind_self(0);
	for (int i = 0; i < ROUNDS && most < TOO_MANY; i++) {
		n = turns_to_hand_over(cpu, inside, outside, two);
		if (n > most)
			most = n;
	}
	EXPECT(most <= TURNS);
	test_note("%u turns at most", most);
	crowd_bind_self(PBIND_NONE);
}

#define OTHER_CPU()                                                            \
	do {                                                                   \
		if (crowd_ncpu() < 2)                                          \
			SKIP("needs two CPUs");                                \
	} while (0)

TEST(empty_section)
{
	OTHER_CPU();
	expect_handover(1, 0, 0, false);
}

TEST(nearly_always_held)
{
	OTHER_CPU();
	expect_handover(1, 1000, 0, false);
}

TEST(rarely_held)
{
	OTHER_CPU();
	expect_handover(1, 0, 1000, false);
}

TEST(another_mutex_in_the_loop)
{
	OTHER_CPU();
	expect_handover(1, 1000, 0, true);
}

TEST(both_on_one_cpu)
{
	expect_handover(0, 1000, 0, false);
}
