/* futex(2): who waits, who wakes in which order, and errors, as on Linux. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The C library keeps a few of the pages that it freed. */
TEST_KEEPS(64);

#define WAIT        0
#define WAKE        1
#define REQUEUE     3
#define CMP_REQUEUE 4
#define WAIT_BITSET 9
#define WAKE_BITSET 10
#define PRIVATE     128
#define REALTIME    256
#define ANY         0xffffffffU

#define MS 1000000L /* ns */

static uint32_t word, other, aside;

static long
futex(void *at, int op, uint32_t val, const void *more, void *to, uint32_t val3)
{
	return syscall(SYS_futex, at, op | PRIVATE, val, more, to, val3);
}

static long
wake_waiters(uint32_t *at, int n)
{
	return futex(at, WAKE, (uint32_t)n, NULL, NULL, 0);
}

/* Move n waiters.  REQUEUE takes their number in place of the time limit. */
static long
move_waiters(uint32_t *from, int wake_n, long n, uint32_t *to)
{
	return futex(from, REQUEUE, (uint32_t)wake_n, (void *)n, to, 0);
}

/* The number of waiters: all move to another word and back, in order. */
static long
count_waiters(uint32_t *at)
{
	long n = move_waiters(at, 0, INT_MAX, &aside);

	EXPECT_EQ(move_waiters(&aside, 0, INT_MAX, at), n);
	return n;
}

static void
until_waiting(uint32_t *at, long n)
{
	/* Sleep, so that an emulator runs its other CPUs at once. */
	while (count_waiters(at) != n)
		usleep(100);
}

/* One waiter: its word and limit, and the result of its wait. */
struct waiter {
	pthread_t w_thread;
	uint32_t *w_at;
	uint32_t w_bits; /* 0: plain WAIT */
	const struct timespec *w_limit;
	long w_ret;
	int w_err;
	int w_turn; /* its place in the order of wakeups */
};

static int turns;

static void *
wait_once(void *arg)
{
	struct waiter *w = arg;

	if (w->w_bits != 0)
		w->w_ret =
		    futex(w->w_at, WAIT_BITSET, 0, w->w_limit, NULL, w->w_bits);
	else
		w->w_ret = futex(w->w_at, WAIT, 0, w->w_limit, NULL, 0);
	w->w_err = errno;
	w->w_turn = __atomic_add_fetch(&turns, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Start the waiters one by one, so that their order is known. */
static bool
start_waiters(struct waiter *w, int n, uint32_t *at)
{
	turns = 0;
	for (int i = 0; i < n; i++) {
		w[i].w_at = at;
		if (pthread_create(&w[i].w_thread, NULL, wait_once, &w[i]) != 0)
			return false;
		until_waiting(at, i + 1);
	}
	return true;
}

static void
join_waiters(struct waiter *w, int n)
{
	for (int i = 0; i < n; i++)
		EXPECT_EQ(pthread_join(w[i].w_thread, NULL), 0);
}

TEST(a_word_that_has_changed_is_not_waited_for)
{
	word = 5;
	EXPECT_ERRNO(futex(&word, WAIT, 0, NULL, NULL, 0), EAGAIN);
	EXPECT_ERRNO(futex(&word, WAIT_BITSET, 4, NULL, NULL, ANY), EAGAIN);
	word = 0;
}

TEST(a_wake_without_waiters_wakes_none)
{
	EXPECT_EQ(wake_waiters(&word, INT_MAX), 0);
	EXPECT_EQ(futex(&word, WAKE_BITSET, INT_MAX, NULL, NULL, 1), 0);
	EXPECT_EQ(move_waiters(&word, INT_MAX, INT_MAX, &other), 0);
}

TEST(the_first_to_come_is_the_first_to_go)
{
	struct waiter w[4] = { 0 };

	REQUIRE(start_waiters(w, 4, &word));
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(wake_waiters(&word, 1), 1);
		EXPECT_EQ(pthread_join(w[i].w_thread, NULL), 0);
		EXPECT_EQ(w[i].w_ret, 0);
		EXPECT_EQ(w[i].w_turn, i + 1);
	}
	EXPECT_EQ(wake_waiters(&word, 1), 0);
}

TEST(as_many_wake_as_asked_for)
{
	struct waiter w[5] = { 0 };

	REQUIRE(start_waiters(w, 5, &word));
	EXPECT_EQ(wake_waiters(&word, 0), 0);
	EXPECT_EQ(wake_waiters(&word, 2), 2);
	EXPECT_EQ(count_waiters(&word), 3);
	EXPECT_EQ(wake_waiters(&other, INT_MAX), 0);
	EXPECT_EQ(wake_waiters(&word, INT_MAX), 3);
	join_waiters(w, 5);
}

TEST(bits_select_the_waiters)
{
	struct waiter w[3] = { { .w_bits = 1 }, { .w_bits = 6 },
		{ .w_bits = 0 /* plain: all bits */ } };

	REQUIRE(start_waiters(w, 3, &word));
	EXPECT_EQ(futex(&word, WAKE_BITSET, INT_MAX, NULL, NULL, 4), 2);
	EXPECT_EQ(pthread_join(w[1].w_thread, NULL), 0);
	EXPECT_EQ(pthread_join(w[2].w_thread, NULL), 0);
	EXPECT_EQ(count_waiters(&word), 1);
	EXPECT_EQ(futex(&word, WAKE_BITSET, 1, NULL, NULL, 3), 1);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_ERRNO(futex(&word, WAKE_BITSET, 1, NULL, NULL, 0), EINVAL);
	EXPECT_ERRNO(futex(&word, WAIT_BITSET, 0, NULL, NULL, 0), EINVAL);
}

TEST(waiters_move_without_waking)
{
	struct waiter w[5] = { 0 };

	REQUIRE(start_waiters(w, 5, &word));
	/* REQUEUE and CMP_REQUEUE return the sum of woken and moved waiters. */
	EXPECT_EQ(move_waiters(&word, 1, 2, &other), 3);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(count_waiters(&word), 2);
	EXPECT_EQ(count_waiters(&other), 2);
	word = 7;
	EXPECT_ERRNO(
	    futex(&word, CMP_REQUEUE, INT_MAX, (void *)1L, &other, 0), EAGAIN);
	EXPECT_EQ(count_waiters(&word), 2);
	EXPECT_EQ(futex(&word, CMP_REQUEUE, 0, (void *)1L, &other, 7), 1);
	word = 0;
	EXPECT_EQ(wake_waiters(&other, INT_MAX), 3);
	EXPECT_EQ(wake_waiters(&word, INT_MAX), 1);
	join_waiters(w + 1, 4);
	EXPECT_ERRNO(move_waiters(&word, -1, 0, &other), EINVAL);
	EXPECT_ERRNO(move_waiters(&word, 0, -1, &other), EINVAL);
}

TEST(a_wait_ends_when_its_time_is_over)
{
	struct timespec ms = { 0, MS }, past = { 0, 0 }, soon;
	int64_t before = test_now_ns();

	EXPECT_ERRNO(futex(&word, WAIT, 0, &ms, NULL, 0), ETIMEDOUT);
	EXPECT(test_now_ns() - before >= MS);
	EXPECT_EQ(count_waiters(&word), 0);
	/* WAIT's time is relative, WAIT_BITSET's absolute. */
	EXPECT_ERRNO(futex(&word, WAIT, 0, &past, NULL, 0), ETIMEDOUT);
	EXPECT_ERRNO(futex(&word, WAIT_BITSET, 0, &past, NULL, ANY), ETIMEDOUT);
	before = test_now_ns();
	soon = (struct timespec){ (before + MS) / 1000000000,
		(before + MS) % 1000000000 };
	EXPECT_ERRNO(futex(&word, WAIT_BITSET, 0, &soon, NULL, ANY), ETIMEDOUT);
	EXPECT(test_now_ns() >= before + MS);
	EXPECT_ERRNO(futex(&word, WAIT_BITSET | REALTIME, 0, &past, NULL, ANY),
	    ETIMEDOUT);
}

TEST(invalid_times_are_refused)
{
	const struct timespec wrong[] = { { -1, 0 }, { 0, -1 },
		{ 0, 1000000000 } };

	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		EXPECT_ERRNO(futex(&word, WAIT, 0, &wrong[i], NULL, 0), EINVAL);
		EXPECT_ERRNO(
		    futex(&word, WAIT_BITSET, 0, &wrong[i], NULL, ANY), EINVAL);
	}
}

TEST(a_time_beyond_all_clocks_never_comes)
{
	const struct timespec never = { INT64_MAX, 999999999 };
	struct waiter w[2] = { { .w_limit = &never },
		{ .w_limit = &never, .w_bits = ANY } };

	REQUIRE(start_waiters(w, 2, &word));
	usleep(1000);
	EXPECT_EQ(count_waiters(&word), 2);
	EXPECT_EQ(wake_waiters(&word, 2), 2);
	join_waiters(w, 2);
	EXPECT_EQ(w[0].w_ret, 0);
	EXPECT_EQ(w[1].w_ret, 0);
}

/* The limit is long: on a slow machine both must wait before it is over. */
TEST(a_moved_waiter_keeps_its_time_limit)
{
	const struct timespec limit = { 1, 0 };
	struct waiter w[2] = { { .w_limit = &limit }, { .w_limit = NULL } };

	REQUIRE(start_waiters(w, 2, &word));
	EXPECT_EQ(move_waiters(&word, 0, 2, &other), 2);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(w[0].w_ret, -1);
	EXPECT_EQ(w[0].w_err, ETIMEDOUT);
	EXPECT_EQ(count_waiters(&other), 1);
	EXPECT_EQ(wake_waiters(&other, 2), 1);
	EXPECT_EQ(pthread_join(w[1].w_thread, NULL), 0);
}

static void
interrupt_waiter(struct waiter *w, int flags)
{
	struct sigaction sa = { .sa_flags = flags };

	sa.sa_handler = test_note_signal;
	EXPECT_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	EXPECT_EQ(pthread_kill(w->w_thread, SIGUSR1), 0);
}

TEST(a_signal_ends_a_wait_unless_it_restarts)
{
	struct waiter w[1] = { 0 };

	REQUIRE(start_waiters(w, 1, &word));
	interrupt_waiter(w, SA_RESTART);
	usleep(1000);
	until_waiting(&word, 1);
	interrupt_waiter(w, 0);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(w[0].w_ret, -1);
	EXPECT_EQ(w[0].w_err, EINTR);
	EXPECT_EQ(wake_waiters(&word, 1), 0);
}

/*
 * A signal that wakes the waiter but is handled by another LWP does not extend
 * the waiter's time limit.  This LWP sends the signal while only the waiter
 * can take it.  This LWP then handles it first, because it is running.
 */
TEST(a_signal_for_another_puts_off_no_deadline)
{
	const struct timespec limit = { 0, 20000000 };
	struct waiter w[1] = { { .w_limit = &limit } };
	struct sigaction sa = { .sa_handler = test_note_signal };
	sigset_t set;

	sigaction(SIGUSR1, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	REQUIRE(start_waiters(w, 1, &word));
	int64_t began = test_now_ns();
	do {
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		kill(getpid(), SIGUSR1);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		usleep(2000);
	} while (
	    count_waiters(&word) != 0 && test_now_ns() - began < 100000000);
	EXPECT(test_now_ns() - began < 60000000);
	EXPECT(wake_waiters(&word, 1) == 0);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	/* If the waiter was faster after all, its handler ended the wait. */
	EXPECT_EQ(w[0].w_ret, -1);
	EXPECT(w[0].w_err == ETIMEDOUT || w[0].w_err == EINTR);
	test_note("%s", strerror(w[0].w_err));
}

TEST(a_restarted_wait_looks_at_the_word_again)
{
	struct waiter w[1] = { 0 };

	REQUIRE(start_waiters(w, 1, &word));
	word = 1;
	interrupt_waiter(w, SA_RESTART);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(w[0].w_ret, -1);
	EXPECT_EQ(w[0].w_err, EAGAIN);
	word = 0;
}

TEST(wrong_addresses)
{
	char *page = test_map(4096, PROT_NONE);
	void *const bad[] = { page, (void *)8, (void *)0xffffffff80000000,
		(void *)0x0000800000000000 };
	char *odd = (char *)&word + 1;

	REQUIRE(page != NULL);
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		EXPECT_ERRNO(futex(bad[i], WAIT, 0, NULL, NULL, 0), EFAULT);
		EXPECT_ERRNO(
		    futex(bad[i], CMP_REQUEUE, 1, (void *)1L, &other, 0),
		    EFAULT);
		EXPECT_ERRNO(
		    futex(&word, CMP_REQUEUE, 1, (void *)1L, bad[i], 0),
		    EFAULT);
		EXPECT_ERRNO(futex(&word, WAIT, 0, bad[i], NULL, 0), EFAULT);
		/* No LWP can wait at such an address, so a wake finds none. */
		EXPECT_EQ(futex(bad[i], WAKE, 1, NULL, NULL, 0), 0);
		/* Without FUTEX_PRIVATE_FLAG Linux looks for the memory. */
		EXPECT_ERRNO(syscall(SYS_futex, bad[i], WAKE, 1), EFAULT);
	}
	EXPECT_ERRNO(futex(odd, WAIT, 0, NULL, NULL, 0), EINVAL);
	EXPECT_ERRNO(futex(odd, WAKE, 1, NULL, NULL, 0), EINVAL);
	EXPECT_ERRNO(futex(&word, REQUEUE, 1, (void *)1L, odd, 0), EINVAL);
	EXPECT_ERRNO(futex(&word, 99, 0, NULL, NULL, 0), ENOSYS);
	EXPECT_EQ(munmap(page, 4096), 0);
}

TEST(memory_that_goes_away_leaves_its_waiter)
{
	struct waiter w[1] = { 0 };
	uint32_t *at = test_map(4096, PROT_READ | PROT_WRITE);

	REQUIRE(at != NULL);
	REQUIRE(start_waiters(w, 1, at));
	EXPECT_EQ(munmap(at, 4096), 0);
	EXPECT_EQ(wake_waiters(at, 1), 1);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(w[0].w_ret, 0);
}

/*
 * A lock built from WAIT and WAKE. 0: free; 1: taken; 2: taken, with waiters.
 * Drepper, "Futexes Are Tricky", mutex 2.
 */
#define NLWP   8
#define NROUND 100
static uint32_t mutex;
static long counter;

static void
lock_mutex(void)
{
	uint32_t c = 0;

	if (__atomic_compare_exchange_n(
		&mutex, &c, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&mutex, 2, __ATOMIC_ACQUIRE) != 0)
		futex(&mutex, WAIT, 2, NULL, NULL, 0);
}

static void
unlock_mutex(void)
{
	if (__atomic_exchange_n(&mutex, 0, __ATOMIC_RELEASE) == 2)
		wake_waiters(&mutex, 1);
}

static void *
add_under_lock(void *arg)
{
	for (int i = 0; i < NROUND; i++) {
		lock_mutex();
		long was = counter;
		if (i % 8 == 0)
			sched_yield(); /* let others run into the lock */
		counter = was + 1;
		unlock_mutex();
	}
	return arg;
}

TEST(no_wake_is_lost)
{
	pthread_t t[NLWP];

	counter = 0;
	for (int i = 0; i < NLWP; i++)
		REQUIRE(pthread_create(&t[i], NULL, add_under_lock, NULL) == 0);
	for (int i = 0; i < NLWP; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	EXPECT_EQ(counter, NLWP * NROUND);
	EXPECT_EQ(count_waiters(&mutex), 0);
}
