/* Threads of the C library, and Solaris's and illumos' functions for them. */
#define _GNU_SOURCE /* gettid() */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/lwp.h>
#include <sys/mman.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <thread.h>
#include <unistd.h>

#define NTHREAD 8
#define NROUND  200
#define SMALL   16384 /* bytes of stack */

/* The C library keeps a few of the pages that it freed. */
TEST_KEEPS(64);

static void *
return_argument(void *arg)
{
	return arg;
}

TEST(create_and_join)
{
	void *got = NULL;
	pthread_t t;

	for (long i = 0; i < NROUND; i++) {
		REQUIRE(
		    pthread_create(&t, NULL, return_argument, (void *)i) == 0);
		REQUIRE(pthread_join(t, &got) == 0);
		EXPECT_EQ((long)got, i);
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *
add_under_lock(void *arg)
{
	for (int i = 0; i < NROUND; i++) {
		pthread_mutex_lock(&lock);
		long was = counter;
		if (i % 16 == 0)
			sched_yield(); /* let others run into the lock */
		counter = was + 1;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static bool
run_all(void *(*fn)(void *))
{
	pthread_t t[NTHREAD];
	bool good = true;
	int n;

	for (n = 0; n < NTHREAD; n++) {
		if (pthread_create(&t[n], NULL, fn, (void *)(long)n) != 0)
			break;
	}
	good = n == NTHREAD;
	while (n-- > 0)
		good = pthread_join(t[n], NULL) == 0 && good;
	return good;
}

TEST(mutex_excludes)
{
	counter = 0;
	REQUIRE(run_all(add_under_lock));
	EXPECT_EQ(counter, NTHREAD * NROUND);
}

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void *
take_turns(void *arg)
{
	int me = (int)(long)arg;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < 20; i++) {
		while (turn % NTHREAD != me)
			pthread_cond_wait(&cond, &lock);
		turn++;
		pthread_cond_broadcast(&cond);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

TEST(condition_variable)
{
	turn = 0;
	REQUIRE(run_all(take_turns));
	EXPECT_EQ(turn, 20 * NTHREAD);
}

static pthread_barrier_t barrier;
static int arrived[20], serial;

static void *
meet_at_barrier(void *arg)
{
	for (int i = 0; i < 20; i++) {
		__atomic_add_fetch(&arrived[i], 1, __ATOMIC_SEQ_CST);
		if (pthread_barrier_wait(&barrier) != 0)
			__atomic_add_fetch(&serial, 1, __ATOMIC_SEQ_CST);
		/* No LWP passes the barrier before all have arrived. */
		EXPECT_EQ(
		    __atomic_load_n(&arrived[i], __ATOMIC_SEQ_CST), NTHREAD);
	}
	return NULL;
}

TEST(barrier_meets)
{
	serial = 0;
	memset(arrived, 0, sizeof arrived);
	REQUIRE(pthread_barrier_init(&barrier, NULL, NTHREAD) == 0);
	REQUIRE(run_all(meet_at_barrier));
	EXPECT_EQ(serial, 20);
	pthread_barrier_destroy(&barrier);
}

static _Thread_local int tls = 7;

static void *
own_tls(void *arg)
{
	EXPECT_EQ(tls, 7);
	tls = (int)(long)arg;
	for (int i = 0; i < 50; i++) {
		sched_yield();
		EXPECT_EQ(tls, (int)(long)arg);
	}
	return NULL;
}

TEST(thread_local_storage)
{
	tls = 1;
	REQUIRE(run_all(own_tls));
	EXPECT_EQ(tls, 1);
	tls = 7;
}

static int gate;

static void *
open_gate(void *arg)
{
	__atomic_store_n(&gate, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

TEST(detached_threads_go)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 20; i++) {
		gate = 0;
		REQUIRE(pthread_create(&t, &attr, open_gate, NULL) == 0);
		while (!__atomic_load_n(&gate, __ATOMIC_SEQ_CST))
			sched_yield();
	}
	usleep(10000);
}

static void *
lwp_id(void *arg)
{
	*(int *)arg = _lwp_self();
	EXPECT(gettid() != getpid());
	return NULL;
}

TEST(lwp_and_thread_ids)
{
	int id = 0;
	pthread_t t;

	EXPECT_EQ(_lwp_self(), 1);
	EXPECT_EQ(gettid(), getpid());
	REQUIRE(pthread_create(&t, NULL, lwp_id, &id) == 0);
	pthread_join(t, NULL);
	EXPECT(id > 1);
}

TEST(solaris_threads)
{
	thread_t t, joined = 0;
	void *status = NULL;

	REQUIRE(thr_create(NULL, 0, return_argument, (void *)5, 0, &t) == 0);
	EXPECT_EQ(thr_join(t, &joined, &status), 0);
	EXPECT_EQ((long)status, 5);
	EXPECT(joined == t);
	EXPECT(thr_self() == pthread_self());
	EXPECT(thr_create(NULL, 1, return_argument, NULL, 0, &t) != 0);
}

static void *
sleep_ms(void *arg)
{
	usleep((unsigned)(long)arg * 1000);
	return NULL;
}

TEST(sleeps_overlap)
{
	int64_t begin = test_now_ns();
	pthread_t t[NTHREAD];

	for (int i = 0; i < NTHREAD; i++)
		REQUIRE(pthread_create(&t[i], NULL, sleep_ms, (void *)20) == 0);
	for (int i = 0; i < NTHREAD; i++)
		pthread_join(t[i], NULL);
	int64_t ms = (test_now_ns() - begin) / 1000000;
	EXPECT(ms >= 20);
	EXPECT(ms < 20 * NTHREAD);
}

static int may_go;

static void *
wait_for_go(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!may_go)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

TEST(thousand_lwps)
{
	static pthread_t t[1000];
	pthread_attr_t attr;
	int n;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, SMALL);
	may_go = 0;
	for (n = 0; n < 1000; n++) {
		if (pthread_create(&t[n], &attr, wait_for_go, NULL) != 0)
			break;
	}
	EXPECT_EQ(n, 1000);
	pthread_mutex_lock(&lock);
	may_go = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	while (n-- > 0)
		EXPECT_EQ(pthread_join(t[n], NULL), 0);
}

static volatile char *page;

static void *
unmap_and_map(void *arg)
{
	for (int i = 1; i < 100; i++) {
		/* This LWP sees the new, zero page, never the old. */
		mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		__atomic_add_fetch(&gate, 1, __ATOMIC_SEQ_CST);
		EXPECT_EQ(*page, 0);
		*page = 1;
	}
	__atomic_store_n(&gate, -1, __ATOMIC_SEQ_CST);
	return NULL;
}

TEST(protection_reaches_every_cpu)
{
	pthread_t t;

	page = test_map(4096, PROT_READ | PROT_WRITE);
	REQUIRE(page != NULL);
	gate = 0;
	REQUIRE(pthread_create(&t, NULL, unmap_and_map, NULL) == 0);
	while (__atomic_load_n(&gate, __ATOMIC_SEQ_CST) != -1)
		sched_yield();
	pthread_join(t, NULL);
	/* This CPU's translations lead to the new page. */
	EXPECT_EQ(*page, 1);
	EXPECT_EQ(munmap((void *)page, 4096), 0);
}

static void *
replace_page(void *arg)
{
	processor_bind(P_LWPID, P_MYID, 1, NULL);
	for (int i = 0; i < 200; i++) {
		void *p = (void *)(uintptr_t)page;

		if (i % 2 == 0)
			madvise(p, 4096, MADV_DONTNEED);
		else
			mmap(p, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	__atomic_store_n(&gate, -1, __ATOMIC_SEQ_CST);
	return arg;
}

/* Each access finds the old page or the new one: no SIGSEGV. */
TEST(what_is_replaced_is_always_there)
{
	pthread_t t;

	if (processor_bind(P_LWPID, P_MYID, 1, NULL) != 0)
		SKIP("one CPU");
	processor_bind(P_LWPID, P_MYID, 0, NULL);
	page = test_map(4096, PROT_READ | PROT_WRITE);
	REQUIRE(page != NULL);
	gate = 0;
	REQUIRE(pthread_create(&t, NULL, replace_page, NULL) == 0);
	while (__atomic_load_n(&gate, __ATOMIC_SEQ_CST) != -1) {
		char is = *page;

		EXPECT(is == 0 || is == 1);
		*page = 1;
	}
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(munmap((void *)page, 4096), 0);
	processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL);
}

TEST(hostile_clone)
{
	EXPECT_ERRNO(syscall(SYS_clone, 0x10000, 0, 0, 0, 0), EINVAL);
	EXPECT_ERRNO(syscall(SYS_clone, 0x50f00, 0, 0, 0, 0), EINVAL);
	EXPECT_ERRNO(syscall(SYS_clone, 0x100, page, 0, 0, 0), EINVAL);
	EXPECT_ERRNO(syscall(SYS_clone, ~0UL, page, 0, 0, 0), EINVAL);
	/* CLONE_PARENT_SETTID with a bad address */
	EXPECT_ERRNO(
	    syscall(SYS_clone, 0x150f00, &page, (void *)8, 0, 0), EFAULT);
	/* CLONE_SETTLS with an address that not every machine can use */
	EXPECT_ERRNO(
	    syscall(SYS_clone, 0x80000, 0, 0, 1UL << 63, 1UL << 63), EPERM);
}
