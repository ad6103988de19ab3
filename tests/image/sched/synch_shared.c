/* <synch.h>'s USYNC_PROCESS objects work between processes, robust ones too. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <synch.h>
#include <sys/mman.h>
#include <unistd.h>

TEST_KEEPS(64);

#define NPROC  4
#define TURNS  200
#define ROBUST (USYNC_PROCESS | LOCK_ROBUST)

static struct {
	mutex_t mutex;
	cond_t cond;
	rwlock_t rwlock;
	sema_t sema;
	unsigned count;
	volatile bool holds;
} * common;

static void
make_common(int mutex_type)
{
	common = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!EXPECT(common != MAP_FAILED))
		_exit(1);
	EXPECT_EQ(mutex_init(&common->mutex, mutex_type, NULL), 0);
	EXPECT_EQ(cond_init(&common->cond, USYNC_PROCESS, NULL), 0);
	EXPECT_EQ(rwlock_init(&common->rwlock, USYNC_PROCESS, NULL), 0);
	EXPECT_EQ(sema_init(&common->sema, 0, USYNC_PROCESS, NULL), 0);
}

static void
drop_common(void)
{
	EXPECT_EQ(munmap(common, 4096), 0);
}

static void
count_up(void)
{
	sema_wait(&common->sema);
	for (int i = 0; i < TURNS; i++) {
		mutex_lock(&common->mutex);
		unsigned was = common->count;

		if (i % 8 == 0)
			sched_yield(); /* others find the mutex locked */
		common->count = was + 1;
		mutex_unlock(&common->mutex);
	}
	mutex_lock(&common->mutex);
	cond_signal(&common->cond);
	mutex_unlock(&common->mutex);
	_exit(0);
}

/* A private object would leave a process asleep. */
TEST(a_mutex_a_condition_and_a_semaphore_are_shared)
{
	pid_t child[NPROC];

	make_common(USYNC_PROCESS);
	for (int i = 0; i < NPROC; i++) {
		if ((child[i] = fork()) == 0)
			count_up();
		EXPECT(child[i] > 0);
	}
	usleep(1000); /* the children wait for the semaphore */
	mutex_lock(&common->mutex);
	for (int i = 0; i < NPROC; i++)
		EXPECT_EQ(sema_post(&common->sema), 0);
	while (common->count < (unsigned)NPROC * TURNS)
		EXPECT_EQ(cond_wait(&common->cond, &common->mutex), 0);
	EXPECT_EQ(mutex_unlock(&common->mutex), 0);
	EXPECT_EQ(common->count, NPROC * TURNS);
	for (int i = 0; i < NPROC; i++)
		EXPECT_EQ(test_wait_status(child[i]), 0);
	drop_common();
}

TEST(a_readers_writer_lock_is_shared)
{
	make_common(USYNC_PROCESS);
	pid_t child = fork();
	if (child == 0) {
		rw_wrlock(&common->rwlock);
		common->holds = true;
		usleep(2000); /* the parent waits now */
		common->count = 1;
		_exit(rw_unlock(&common->rwlock));
	}
	REQUIRE(child > 0);
	while (!common->holds)
		sched_yield();
	EXPECT_EQ(rw_rdlock(&common->rwlock), 0);
	EXPECT_EQ(common->count, 1);
	EXPECT_EQ(rw_unlock(&common->rwlock), 0);
	EXPECT_EQ(test_wait_status(child), 0);
	drop_common();
}

/* A child locks the mutex, and ends by a signal while the parent waits. */
static void
lock_after_death(void)
{
	pid_t child = fork();

	if (child == 0) {
		mutex_lock(&common->mutex);
		common->holds = true;
		usleep(2000); /* the parent waits now */
		raise(SIGKILL);
	}
	if (!EXPECT(child > 0))
		return;
	while (!common->holds)
		sched_yield();
	EXPECT_EQ(mutex_lock(&common->mutex), EOWNERDEAD);
	EXPECT_EQ(test_wait_status(child), SIGKILL);
}

static void
expect_works(void)
{
	EXPECT_EQ(mutex_unlock(&common->mutex), 0);
	EXPECT_EQ(mutex_lock(&common->mutex), 0);
	EXPECT_EQ(mutex_consistent(&common->mutex), EINVAL); /* it is */
	EXPECT_EQ(mutex_unlock(&common->mutex), 0);
}

TEST(the_next_owner_makes_a_robust_mutex_consistent)
{
	make_common(ROBUST);
	lock_after_death();
	EXPECT_EQ(mutex_consistent(&common->mutex), 0);
	expect_works();
	drop_common();
}

TEST(left_inconsistent_it_is_not_recoverable)
{
	make_common(ROBUST);
	lock_after_death();
	EXPECT_EQ(mutex_unlock(&common->mutex), 0);
	EXPECT_EQ(mutex_lock(&common->mutex), ENOTRECOVERABLE);
	EXPECT_EQ(mutex_trylock(&common->mutex), ENOTRECOVERABLE);
	drop_common();
}

/* Programs written before mutex_consistent() call mutex_init() instead. */
TEST(mutex_init_makes_it_consistent)
{
	make_common(USYNC_PROCESS_ROBUST);
	lock_after_death();
	EXPECT_EQ(mutex_init(&common->mutex, USYNC_PROCESS_ROBUST, NULL), 0);
	expect_works();
	drop_common();
}

TEST(a_second_mutex_init_keeps_it)
{
	make_common(ROBUST);
	EXPECT_EQ(mutex_consistent(&common->mutex), EINVAL); /* not locked */
	EXPECT_EQ(mutex_lock(&common->mutex), 0);
	EXPECT_EQ(mutex_init(&common->mutex, ROBUST, NULL), EBUSY);
	EXPECT_EQ(mutex_trylock(&common->mutex), EBUSY);
	EXPECT_EQ(mutex_unlock(&common->mutex), 0);
	EXPECT_EQ(mutex_init(&common->mutex, ROBUST, NULL), EBUSY);
	EXPECT_EQ(mutex_destroy(&common->mutex), 0);
	EXPECT_EQ(mutex_init(&common->mutex, ROBUST, NULL), 0);
	EXPECT_EQ(mutex_lock(&common->mutex), 0);
	expect_works();
	drop_common();
}

TEST(unknown_types_are_refused)
{
	const int unknown = 0x80;
	rwlock_t rwlock;
	mutex_t mutex;
	cond_t cond;
	sema_t sema;

	EXPECT_EQ(mutex_init(&mutex, USYNC_PROCESS | unknown, NULL), EINVAL);
	EXPECT_EQ(cond_init(&cond, unknown, NULL), EINVAL);
	EXPECT_EQ(rwlock_init(&rwlock, unknown, NULL), EINVAL);
	EXPECT_EQ(sema_init(&sema, 0, unknown, NULL), EINVAL);
}
