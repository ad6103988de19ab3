/*
 * futex(2), straight: who waits, who is woken, how many, in which order, and
 * what is said of wrong addresses, values and times.  Linux's futex(2) manual
 * page tells what each returns.
 */
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

/* The C library keeps a few pages of what it freed. */
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
wake(uint32_t *at, int n)
{
	return futex(at, WAKE, (uint32_t)n, NULL, NULL, 0);
}

/* Move n waiters; `more` is a number there. */
static long
move(uint32_t *from, int wake_n, long n, uint32_t *to)
{
	return futex(from, REQUEUE, (uint32_t)wake_n, (void *)n, to, 0);
}

/* How many wait: all go elsewhere and come back, in their order. */
static long
waiting(uint32_t *at)
{
	long n = move(at, 0, INT_MAX, &aside);

	EXPECT_EQ(move(&aside, 0, INT_MAX, at), n);
	return n;
}

static void
until_waiting(uint32_t *at, long n)
{
	/* Asleep, for an emulator's other CPUs to get their turns at once. */
	while (waiting(at) != n)
		usleep(100);
}

static int64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/*
 * A waiter: on what, how, and what came of it.
 */
struct waiter {
	pthread_t w_thread;
	uint32_t *w_at;
	uint32_t w_bits; /* 0: plain WAIT */
	const struct timespec *w_limit;
	long w_ret;
	int w_err;
	int w_turn; /* the how-manieth it was to wake */
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

/* One after the other, so that they wait in this order. */
static bool
start(struct waiter *w, int n, uint32_t *at)
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
join(struct waiter *w, int n)
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

TEST(nobody_waits)
{
	EXPECT_EQ(wake(&word, INT_MAX), 0);
	EXPECT_EQ(futex(&word, WAKE_BITSET, INT_MAX, NULL, NULL, 1), 0);
	EXPECT_EQ(move(&word, INT_MAX, INT_MAX, &other), 0);
}

TEST(the_first_to_come_is_the_first_to_go)
{
	struct waiter w[4] = { 0 };

	REQUIRE(start(w, 4, &word));
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(wake(&word, 1), 1);
		EXPECT_EQ(pthread_join(w[i].w_thread, NULL), 0);
		EXPECT_EQ(w[i].w_ret, 0);
		EXPECT_EQ(w[i].w_turn, i + 1);
	}
	EXPECT_EQ(wake(&word, 1), 0);
}

TEST(as_many_wake_as_are_called)
{
	struct waiter w[5] = { 0 };

	REQUIRE(start(w, 5, &word));
	EXPECT_EQ(wake(&word, 0), 0);
	EXPECT_EQ(wake(&word, 2), 2);
	EXPECT_EQ(waiting(&word), 3);
	EXPECT_EQ(wake(&other, INT_MAX), 0);
	EXPECT_EQ(wake(&word, INT_MAX), 3);
	join(w, 5);
}

TEST(bits_choose)
{
	struct waiter w[3] = { { .w_bits = 1 }, { .w_bits = 6 },
		{ .w_bits = 0 /* plain: all bits */ } };

	REQUIRE(start(w, 3, &word));
	EXPECT_EQ(futex(&word, WAKE_BITSET, INT_MAX, NULL, NULL, 4), 2);
	EXPECT_EQ(pthread_join(w[1].w_thread, NULL), 0);
	EXPECT_EQ(pthread_join(w[2].w_thread, NULL), 0);
	EXPECT_EQ(waiting(&word), 1);
	EXPECT_EQ(futex(&word, WAKE_BITSET, 1, NULL, NULL, 3), 1);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_ERRNO(futex(&word, WAKE_BITSET, 1, NULL, NULL, 0), EINVAL);
	EXPECT_ERRNO(futex(&word, WAIT_BITSET, 0, NULL, NULL, 0), EINVAL);
}

TEST(waiters_move_without_waking)
{
	struct waiter w[5] = { 0 };

	REQUIRE(start(w, 5, &word));
	/* Both kinds return those woken and those moved. */
	EXPECT_EQ(move(&word, 1, 2, &other), 3);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(waiting(&word), 2);
	EXPECT_EQ(waiting(&other), 2);
	word = 7;
	EXPECT_ERRNO(
	    futex(&word, CMP_REQUEUE, INT_MAX, (void *)1L, &other, 0), EAGAIN);
	EXPECT_EQ(waiting(&word), 2);
	EXPECT_EQ(futex(&word, CMP_REQUEUE, 0, (void *)1L, &other, 7), 1);
	word = 0;
	EXPECT_EQ(wake(&other, INT_MAX), 3);
	EXPECT_EQ(wake(&word, INT_MAX), 1);
	join(w + 1, 4);
	EXPECT_ERRNO(move(&word, -1, 0, &other), EINVAL);
	EXPECT_ERRNO(move(&word, 0, -1, &other), EINVAL);
}

TEST(a_wait_ends_when_its_time_is_over)
{
	struct timespec ms = { 0, MS }, past = { 0, 0 }, soon;
	int64_t before = now();

	EXPECT_ERRNO(futex(&word, WAIT, 0, &ms, NULL, 0), ETIMEDOUT);
	EXPECT(now() - before >= MS);
	EXPECT_EQ(waiting(&word), 0);
	/* WAIT counts from now, WAIT_BITSET names the time itself. */
	EXPECT_ERRNO(futex(&word, WAIT, 0, &past, NULL, 0), ETIMEDOUT);
	EXPECT_ERRNO(futex(&word, WAIT_BITSET, 0, &past, NULL, ANY), ETIMEDOUT);
	before = now();
	soon = (struct timespec){ (before + MS) / 1000000000,
		(before + MS) % 1000000000 };
	EXPECT_ERRNO(futex(&word, WAIT_BITSET, 0, &soon, NULL, ANY), ETIMEDOUT);
	EXPECT(now() >= before + MS);
	EXPECT_ERRNO(futex(&word, WAIT_BITSET | REALTIME, 0, &past, NULL, ANY),
	    ETIMEDOUT);
}

TEST(times_that_are_none)
{
	const struct timespec wrong[] = { { -1, 0 }, { 0, -1 },
		{ 0, 1000000000 } };

	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		EXPECT_ERRNO(futex(&word, WAIT, 0, &wrong[i], NULL, 0), EINVAL);
		EXPECT_ERRNO(
		    futex(&word, WAIT_BITSET, 0, &wrong[i], NULL, ANY), EINVAL);
	}
}

TEST(a_time_beyond_all_clocks_is_never)
{
	const struct timespec never = { INT64_MAX, 999999999 };
	struct waiter w[2] = { { .w_limit = &never },
		{ .w_limit = &never, .w_bits = ANY } };

	REQUIRE(start(w, 2, &word));
	usleep(1000);
	EXPECT_EQ(waiting(&word), 2);
	EXPECT_EQ(wake(&word, 2), 2);
	join(w, 2);
	EXPECT_EQ(w[0].w_ret, 0);
	EXPECT_EQ(w[1].w_ret, 0);
}

TEST(one_that_moved_still_has_its_limit)
{
	const struct timespec limit = { 0, 20 * MS };
	struct waiter w[2] = { { .w_limit = &limit }, { .w_limit = NULL } };

	REQUIRE(start(w, 2, &word));
	EXPECT_EQ(move(&word, 0, 2, &other), 2);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(w[0].w_ret, -1);
	EXPECT_EQ(w[0].w_err, ETIMEDOUT);
	EXPECT_EQ(waiting(&other), 1);
	EXPECT_EQ(wake(&other, 2), 1);
	EXPECT_EQ(pthread_join(w[1].w_thread, NULL), 0);
}

static void
nothing(int sig)
{
	(void)sig;
}

static void
interrupt(struct waiter *w, int flags)
{
	struct sigaction sa = { .sa_flags = flags };

	sa.sa_handler = nothing;
	EXPECT_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	EXPECT_EQ(pthread_kill(w->w_thread, SIGUSR1), 0);
}

TEST(a_signal_ends_a_wait_unless_it_restarts)
{
	struct waiter w[1] = { 0 };

	REQUIRE(start(w, 1, &word));
	interrupt(w, SA_RESTART);
	usleep(1000);
	until_waiting(&word, 1);
	interrupt(w, 0);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(w[0].w_ret, -1);
	EXPECT_EQ(w[0].w_err, EINTR);
	EXPECT_EQ(wake(&word, 1), 0);
}

/*
 * A signal that wakes the waiter and is taken by another does not put off its
 * deadline: this LWP sends it while the waiter alone can take it, and is
 * faster then, for it runs.
 */
TEST(a_signal_for_another_puts_off_no_deadline)
{
	const struct timespec limit = { 0, 20000000 };
	struct waiter w[1] = { { .w_limit = &limit } };
	struct sigaction sa = { .sa_handler = nothing };
	int64_t began;
	sigset_t set;

	sigaction(SIGUSR1, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	REQUIRE(start(w, 1, &word));
	began = now();
	do {
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		kill(getpid(), SIGUSR1);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		usleep(2000);
	} while (waiting(&word) != 0 && now() - began < 100000000);
	EXPECT(now() - began < 60000000);
	EXPECT(wake(&word, 1) == 0);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	/* Where the waiter was faster after all, its handler ended the wait. */
	EXPECT_EQ(w[0].w_ret, -1);
	EXPECT(w[0].w_err == ETIMEDOUT || w[0].w_err == EINTR);
	test_note("%s", strerror(w[0].w_err));
}

TEST(a_restarted_wait_looks_at_the_word_again)
{
	struct waiter w[1] = { 0 };

	REQUIRE(start(w, 1, &word));
	word = 1;
	interrupt(w, SA_RESTART);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(w[0].w_ret, -1);
	EXPECT_EQ(w[0].w_err, EAGAIN);
	word = 0;
}

TEST(wrong_addresses)
{
	char *page =
	    mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *const bad[] = { page, (void *)8, (void *)0xffffffff80000000,
		(void *)0x0000800000000000 };
	char *odd = (char *)&word + 1;

	REQUIRE(page != MAP_FAILED);
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		EXPECT_ERRNO(futex(bad[i], WAIT, 0, NULL, NULL, 0), EFAULT);
		EXPECT_ERRNO(
		    futex(bad[i], CMP_REQUEUE, 1, (void *)1L, &other, 0),
		    EFAULT);
		EXPECT_ERRNO(futex(&word, WAIT, 0, bad[i], NULL, 0), EFAULT);
		/* Nobody can wait there. */
		EXPECT_EQ(futex(bad[i], WAKE, 1, NULL, NULL, 0), 0);
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
	uint32_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(at != MAP_FAILED);
	REQUIRE(start(w, 1, at));
	EXPECT_EQ(munmap(at, 4096), 0);
	EXPECT_EQ(wake(at, 1), 1);
	EXPECT_EQ(pthread_join(w[0].w_thread, NULL), 0);
	EXPECT_EQ(w[0].w_ret, 0);
}

/*
 * A lock made of WAIT and WAKE: 0 free, 1 taken, 2 taken and waited for.
 * Drepper, "Futexes Are Tricky", mutex 2.
 */
#define NLWP   8
#define NROUND 100
static uint32_t mutex;
static long counter;

static void
take(void)
{
	uint32_t c = 0;

	if (__atomic_compare_exchange_n(
		&mutex, &c, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&mutex, 2, __ATOMIC_ACQUIRE) != 0)
		futex(&mutex, WAIT, 2, NULL, NULL, 0);
}

static void
give(void)
{
	if (__atomic_exchange_n(&mutex, 0, __ATOMIC_RELEASE) == 2)
		wake(&mutex, 1);
}

static void *
add(void *arg)
{
	for (int i = 0; i < NROUND; i++) {
		take();
		long was = counter;
		if (i % 8 == 0)
			sched_yield(); /* let others run into the lock */
		counter = was + 1;
		give();
	}
	return arg;
}

TEST(no_wake_is_lost)
{
	pthread_t t[NLWP];

	counter = 0;
	for (int i = 0; i < NLWP; i++)
		REQUIRE(pthread_create(&t[i], NULL, add, NULL) == 0);
	for (int i = 0; i < NLWP; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	EXPECT_EQ(counter, NLWP * NROUND);
	EXPECT_EQ(waiting(&mutex), 0);
}
