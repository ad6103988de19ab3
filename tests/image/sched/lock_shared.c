/* Locks in shared memory work between processes, also after an owner. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64);

#define NPROC 4
#define TURNS 200

static struct {
	pthread_mutex_t mutex;
	pthread_barrier_t barrier;
	pthread_cond_t cond;
	sem_t semaphore;
	unsigned count;
	volatile uint32_t word;
	volatile bool holds;
} * common;

static void
make_common(int robust, int protocol)
{
	pthread_mutexattr_t ma;
	pthread_barrierattr_t ba;
	pthread_condattr_t ca;

	common = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!EXPECT(common != MAP_FAILED))
		_exit(1);
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&ma, robust);
	EXPECT_EQ(pthread_mutexattr_setprotocol(&ma, protocol), 0);
	EXPECT_EQ(pthread_mutex_init(&common->mutex, &ma), 0);
	pthread_barrierattr_init(&ba);
	pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED);
	EXPECT_EQ(pthread_barrier_init(&common->barrier, &ba, NPROC + 1), 0);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	EXPECT_EQ(pthread_cond_init(&common->cond, &ca), 0);
	EXPECT_EQ(sem_init(&common->semaphore, 1, 0), 0);
}

static void
drop_common(void)
{
	EXPECT_EQ(munmap(common, 4096), 0);
}

static void
count_up(void)
{
	pthread_barrier_wait(&common->barrier);
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&common->mutex);
		unsigned was = common->count;

		if (i % 8 == 0)
			sched_yield(); /* others find the mutex locked */
		common->count = was + 1;
		pthread_mutex_unlock(&common->mutex);
	}
	pthread_mutex_lock(&common->mutex);
	pthread_cond_signal(&common->cond);
	pthread_mutex_unlock(&common->mutex);
	pthread_barrier_wait(&common->barrier);
	sem_post(&common->semaphore);
	_exit(0);
}

static void
share_among_processes(int protocol)
{
	pid_t child[NPROC];

	make_common(PTHREAD_MUTEX_STALLED, protocol);
	for (int i = 0; i < NPROC; i++) {
		if ((child[i] = fork()) == 0)
			count_up();
		EXPECT(child[i] > 0);
	}
	pthread_mutex_lock(&common->mutex);
	pthread_barrier_wait(&common->barrier);
	while (common->count < (unsigned)NPROC * TURNS)
		pthread_cond_wait(&common->cond, &common->mutex);
	pthread_mutex_unlock(&common->mutex);
	EXPECT_EQ(common->count, NPROC * TURNS);
	pthread_barrier_wait(&common->barrier);
	for (int i = 0; i < NPROC; i++) {
		EXPECT_EQ(sem_wait(&common->semaphore), 0);
		EXPECT_EQ(test_wait_status(child[i]), 0);
	}
	drop_common();
}

TEST(a_mutex_a_condition_and_a_barrier_are_shared)
{
	share_among_processes(PTHREAD_PRIO_NONE);
}

TEST(a_mutex_with_priority_inheritance_is_shared)
{
	share_among_processes(PTHREAD_PRIO_INHERIT);
}

/* A child locks the mutex, and ends by a signal while the parent waits. */
static void
owner_is_killed(int protocol)
{
	make_common(PTHREAD_MUTEX_ROBUST, protocol);
	pid_t child = fork();
	if (child == 0) {
		pthread_mutex_lock(&common->mutex);
		common->holds = true;
		usleep(2000); /* the parent waits now */
		raise(SIGKILL);
	}
	REQUIRE(child > 0);
	while (!common->holds)
		sched_yield();
	EXPECT_EQ(pthread_mutex_lock(&common->mutex), EOWNERDEAD);
	EXPECT_EQ(pthread_mutex_consistent(&common->mutex), 0);
	EXPECT_EQ(pthread_mutex_unlock(&common->mutex), 0);
	EXPECT_EQ(pthread_mutex_lock(&common->mutex), 0);
	EXPECT_EQ(pthread_mutex_unlock(&common->mutex), 0);
	EXPECT_EQ(test_wait_status(child), SIGKILL);
	drop_common();
}

TEST(a_robust_mutex_outlives_its_owners_process)
{
	owner_is_killed(PTHREAD_PRIO_NONE);
}

TEST(so_does_one_with_priority_inheritance)
{
	owner_is_killed(PTHREAD_PRIO_INHERIT);
}

/* A program that is executed has no lock: the next process gets it. */
TEST(exec_releases_a_robust_mutex)
{
	make_common(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	pid_t child = fork();
	if (child == 0) {
		pthread_mutex_lock(&common->mutex);
		common->holds = true;
		usleep(2000);
		execl("mix_exec", "mix_exec", NULL);
		_exit(2);
	}
	REQUIRE(child > 0);
	while (!common->holds)
		sched_yield();
	EXPECT_EQ(pthread_mutex_lock(&common->mutex), EOWNERDEAD);
	EXPECT_EQ(pthread_mutex_unlock(&common->mutex), 0);
	/* mix_exec without arguments */
	EXPECT_EQ(test_wait_status(child), 1 << 8);
	drop_common();
}

#define WAIT    0
#define WAKE    1
#define PRIVATE 128

static long
futex(int op, unsigned value, const struct timespec *limit)
{
	return syscall(SYS_futex, &common->word, op, value, limit, NULL, 0);
}

/* A private call is of its process, even on shared memory: as on Linux. */
TEST(private_and_shared_calls_do_not_meet)
{
	const struct timespec limit = { 0, 2000000 };

	make_common(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	pid_t child = fork();
	if (child == 0) {
		long r = futex(WAIT | PRIVATE, 0, &limit);

		if (r != -1 || errno != ETIMEDOUT)
			_exit(1);
		common->holds = true;
		_exit(futex(WAIT, 0, NULL) != 0);
	}
	REQUIRE(child > 0);
	usleep(500);
	EXPECT_EQ(futex(WAKE, 1, NULL), 0);
	EXPECT_EQ(futex(WAKE | PRIVATE, 1, NULL), 0);
	while (!common->holds)
		sched_yield();
	while (futex(WAKE, 1, NULL) == 0)
		sched_yield();
	EXPECT_EQ(test_wait_status(child), 0);
	drop_common();
}

/*
 * A process unlocks a robust mutex, and ends before it wakes another: its list
 * names the mutex as pending, and the word is 0.  Linux, Documentation/locking/
 * robust-futex-ABI.rst.
 */
static void
end_before_the_wake(void)
{
	static struct {
		void *first;
		long offset;
		void *pending;
	} head;

	head.first = &head;
	head.pending = (void *)&common->word;
	syscall(SYS_set_robust_list, &head, sizeof head);
	_exit(0);
}

TEST(an_unlock_without_its_wake_is_finished)
{
	const struct timespec limit = { 10, 0 };

	make_common(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	pid_t waiter = fork();
	if (waiter == 0) {
		common->holds = true;
		_exit(futex(WAIT, 0, &limit) != 0);
	}
	REQUIRE(waiter > 0);
	while (!common->holds)
		sched_yield();
	usleep(2000);
	pid_t child = fork();
	if (child == 0)
		end_before_the_wake();
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_EQ(test_wait_status(waiter), 0);
	drop_common();
}
