/* Mutexes with priority inheritance and robust ones, as on Linux. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The C library keeps a few of the pages that it freed. */
TEST_KEEPS(64);

#define LOCK_PI    6
#define UNLOCK_PI  7
#define TRYLOCK_PI 8
#define PRIVATE    128
#define WAITERS    0x80000000U
#define OWNER_DIED 0x40000000U

static uint32_t word;

static long
futex(uint32_t *at, int op, const struct timespec *until)
{
	return syscall(SYS_futex, at, op | PRIVATE, 0, until, NULL, 0);
}

static uint32_t
self(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

TEST(a_free_lock_is_taken)
{
	word = 0;
	EXPECT_EQ(futex(&word, LOCK_PI, NULL), 0);
	EXPECT_EQ(word, self());
	EXPECT_ERRNO(futex(&word, LOCK_PI, NULL), EDEADLK);
	EXPECT_ERRNO(futex(&word, TRYLOCK_PI, NULL), EDEADLK);
	EXPECT_EQ(futex(&word, UNLOCK_PI, NULL), 0);
	EXPECT_EQ(word, 0);
	EXPECT_ERRNO(futex(&word, UNLOCK_PI, NULL), EPERM);
	EXPECT_EQ(futex(&word, TRYLOCK_PI, NULL), 0);
	EXPECT_EQ(word, self());
	/* The owner has ended: the flag stays. */
	word = OWNER_DIED;
	EXPECT_EQ(futex(&word, LOCK_PI, NULL), 0);
	EXPECT_EQ(word, OWNER_DIED | self());
	EXPECT_EQ(futex(&word, UNLOCK_PI, NULL), 0);
	EXPECT_EQ(word, 0);
}

TEST(wrong_words_are_refused)
{
	char *page = test_map(4096, PROT_READ);

	word = 0x3ffffff0; /* no such LWP */
	EXPECT_ERRNO(futex(&word, LOCK_PI, NULL), ESRCH);
	EXPECT_EQ(word, 0x3ffffff0);
	EXPECT_ERRNO(futex(&word, TRYLOCK_PI, NULL), EAGAIN);
	EXPECT_ERRNO(
	    futex((uint32_t *)((char *)&word + 1), LOCK_PI, NULL), EINVAL);
	EXPECT_ERRNO(futex((void *)page, LOCK_PI, NULL), EFAULT);
	EXPECT_ERRNO(futex((void *)page, UNLOCK_PI, NULL), EFAULT);
	EXPECT_ERRNO(futex((void *)16, TRYLOCK_PI, NULL), EFAULT);
	EXPECT_EQ(munmap(page, 4096), 0);
}

static volatile int waiting;
static uint32_t word_owner;

static void *
lock_and_unlock(void *arg)
{
	waiting = 1;
	EXPECT_EQ(futex(&word, LOCK_PI, NULL), 0);
	EXPECT_EQ(word & ~(WAITERS | OWNER_DIED), self());
	*(uint32_t *)arg = self();
	EXPECT_EQ(futex(&word, UNLOCK_PI, NULL), 0);
	return NULL;
}

TEST(the_owner_hands_it_to_the_first_that_waits)
{
	uint32_t owners[2] = { 0, 0 };
	pthread_t t[2];

	word = self();
	for (int i = 0; i < 2; i++) {
		waiting = 0;
		REQUIRE(pthread_create(
			    &t[i], NULL, lock_and_unlock, &owners[i]) == 0);
		while (!waiting ||
		       __atomic_load_n(&word, __ATOMIC_SEQ_CST) == self())
			sched_yield();
	}
	usleep(2000); /* the second one sleeps, too */
	EXPECT_EQ(word, self() | WAITERS);
	EXPECT_EQ(futex(&word, UNLOCK_PI, NULL), 0);
	EXPECT(word != self());
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	EXPECT(owners[0] != 0 && owners[1] != 0);
	EXPECT_EQ(word, 0);
}

static struct timespec
from_now(long ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += (ts.tv_nsec + ns) / 1000000000;
	ts.tv_nsec = (ts.tv_nsec + ns) % 1000000000;
	return ts;
}

static void *
try_until(void *arg)
{
	struct timespec until = from_now(2000000);

	EXPECT_ERRNO(futex(&word, LOCK_PI, &until), ETIMEDOUT);
	return NULL;
}

TEST(a_wait_has_a_time_limit)
{
	pthread_t t;

	word = self();
	REQUIRE(pthread_create(&t, NULL, try_until, NULL) == 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(word & ~WAITERS, self());
	EXPECT_EQ(futex(&word, UNLOCK_PI, NULL), 0);
	EXPECT_EQ(word, 0);
}

/* Locks of the C library. */

#define LWPS  4
#define TURNS 200

static struct {
	pthread_mutex_t mutex;
	long sum;
} shared;

static void *
add(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		EXPECT_EQ(pthread_mutex_lock(&shared.mutex), 0);
		long was = shared.sum;

		if (i % 16 == 0)
			sched_yield();
		shared.sum = was + 1;
		EXPECT_EQ(pthread_mutex_unlock(&shared.mutex), 0);
	}
	return NULL;
}

TEST(a_mutex_with_priority_inheritance_excludes)
{
	pthread_mutexattr_t attr;
	pthread_t t[LWPS];

	EXPECT_EQ(pthread_mutexattr_init(&attr), 0);
	EXPECT_EQ(
	    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT), 0);
	EXPECT_EQ(pthread_mutex_init(&shared.mutex, &attr), 0);
	shared.sum = 0;
	for (int i = 0; i < LWPS; i++)
		REQUIRE(pthread_create(&t[i], NULL, add, NULL) == 0);
	for (int i = 0; i < LWPS; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	EXPECT_EQ(shared.sum, LWPS * TURNS);
	EXPECT_EQ(pthread_mutex_destroy(&shared.mutex), 0);
}

static void *
lock_and_end(void *arg)
{
	EXPECT_EQ(pthread_mutex_lock(arg), 0);
	return NULL;
}

static void
die_with(int protocol)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;
	pthread_t t;

	EXPECT_EQ(pthread_mutexattr_init(&attr), 0);
	EXPECT_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
	EXPECT_EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);
	EXPECT_EQ(pthread_mutex_init(&mutex, &attr), 0);
	REQUIRE(pthread_create(&t, NULL, lock_and_end, &mutex) == 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(pthread_mutex_lock(&mutex), EOWNERDEAD);
	EXPECT_EQ(pthread_mutex_consistent(&mutex), 0);
	EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
}

TEST(a_robust_mutex_reports_that_its_owner_ended)
{
	die_with(PTHREAD_PRIO_NONE);
	die_with(PTHREAD_PRIO_INHERIT);
}

static void *
wait_for_dead(void *arg)
{
	waiting = 1;
	EXPECT_EQ(pthread_mutex_lock(arg), EOWNERDEAD);
	EXPECT_EQ(pthread_mutex_consistent(arg), 0);
	EXPECT_EQ(pthread_mutex_unlock(arg), 0);
	return NULL;
}

static pthread_t waiter;

/* Start a thread that sets `waiting` and then waits; give it time to. */
static void
start_waiting(pthread_t *t, void *(*body)(void *), void *arg)
{
	waiting = 0;
	EXPECT_EQ(pthread_create(t, NULL, body, arg), 0);
	while (!waiting)
		sched_yield();
	usleep(2000);
}

static void *
lock_wait_and_end(void *arg)
{
	EXPECT_EQ(pthread_mutex_lock(arg), 0);
	start_waiting(&waiter, wait_for_dead, arg);
	return NULL;
}

static void *
own_and_end(void *arg)
{
	EXPECT_EQ(futex(&word, LOCK_PI, NULL), 0);
	start_waiting(&waiter, lock_and_unlock, &word_owner);
	return NULL;
}

/* As on Linux: also a lock that is in no list. */
TEST(an_owner_that_ends_hands_over)
{
	pthread_t t;

	word = word_owner = 0;
	REQUIRE(pthread_create(&t, NULL, own_and_end, NULL) == 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(pthread_join(waiter, NULL), 0);
	EXPECT(word_owner != 0);
	EXPECT_EQ(word, 0);
}

static void *
lock_and_leave(void *arg)
{
	EXPECT_EQ(futex(&word, LOCK_PI, NULL), 0);
	return NULL;
}

static void *
lock_in_time(void *arg)
{
	struct timespec until = from_now(10000000000);

	waiting = 1;
	EXPECT_EQ(futex(&word, LOCK_PI, &until), 0);
	*(uint32_t *)arg = self();
	EXPECT_EQ(futex(&word, UNLOCK_PI, NULL), 0);
	return NULL;
}

static pthread_t first, second;

static void *
own_for_two_and_end(void *arg)
{
	EXPECT_EQ(futex(&word, LOCK_PI, NULL), 0);
	EXPECT_EQ(pthread_create(&first, NULL, lock_and_leave, NULL), 0);
	while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == self())
		sched_yield(); /* until the first one waits */
	start_waiting(&second, lock_in_time, &word_owner);
	return NULL;
}

/* The first that waits ends as the owner, too: the second has to get it. */
TEST(a_second_owner_that_ends_hands_over)
{
	pthread_t t;

	word = word_owner = 0;
	REQUIRE(pthread_create(&t, NULL, own_for_two_and_end, NULL) == 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(pthread_join(first, NULL), 0);
	EXPECT_EQ(pthread_join(second, NULL), 0);
	EXPECT(word_owner != 0);
	EXPECT_EQ(word, 0);
}

TEST(the_first_that_waits_gets_it)
{
	static const int protocols[] = { PTHREAD_PRIO_NONE,
		PTHREAD_PRIO_INHERIT };

	for (unsigned i = 0; i < 2; i++) {
		pthread_mutexattr_t attr;
		pthread_mutex_t mutex;
		pthread_t t;

		EXPECT_EQ(pthread_mutexattr_init(&attr), 0);
		EXPECT_EQ(
		    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST),
		    0);
		EXPECT_EQ(
		    pthread_mutexattr_setprotocol(&attr, protocols[i]), 0);
		EXPECT_EQ(pthread_mutex_init(&mutex, &attr), 0);
		REQUIRE(
		    pthread_create(&t, NULL, lock_wait_and_end, &mutex) == 0);
		EXPECT_EQ(pthread_join(t, NULL), 0);
		EXPECT_EQ(pthread_join(waiter, NULL), 0);
		EXPECT_EQ(pthread_mutex_destroy(&mutex), 0);
	}
}
