/* No LWP waits while a CPU that it may use is idle, or stays on another. */
#define _GNU_SOURCE /* cpu_set_t */
#include "tests/lib/image/crowd.h"
#include "tests/lib/image/test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <unistd.h>

TEST_KEEPS(64);

/* After some slices for each LWP, every move has happened. */
#define SETTLE_US (5 * SLICE_US)

static struct crowd crowd;

static void
run_anywhere(void)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof set);
	EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

/* Only waiting work can wake the idle CPU: all else stays on another CPU. */

TEST(lwps_spread_when_their_affinity_widens)
{
	cpu_set_t all;

	if (crowd_ncpu() == 1)
		SKIP("one CPU");
	sched_getaffinity(0, sizeof all, &all);
	test_run_on(0);
	crowd_start(&crowd, 0, 0);
	for (int i = 0; i < 2; i++)
		crowd_add(&crowd, -1);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(
		    pthread_setaffinity_np(crowd.lwp[i].t, sizeof all, &all),
		    0);
	crowd_sleep_us(SETTLE_US);
	EXPECT(crowd_where(&crowd, 0) != crowd_where(&crowd, 1));
	crowd_end(&crowd);
	run_anywhere();
}

TEST(a_bound_lwp_displaces_an_unbound_lwp)
{
	if (crowd_ncpu() == 1)
		SKIP("one CPU");
	crowd_start(&crowd, 0, 0);
	crowd_add(&crowd, -1);
	int on = crowd_where(&crowd, 0);
	crowd_bind_self(on);
	crowd_add(&crowd, -1); /* inherits the binding of this LWP */
	crowd_sleep_us(SETTLE_US);
	EXPECT_EQ(crowd_where(&crowd, 1), on);
	EXPECT(crowd_where(&crowd, 0) != on);
	crowd_end(&crowd);
	crowd_bind_self(PBIND_NONE);
}

/*
 * Three LWPs for each CPU.  The first go to idle CPUs, the others to each CPU
 * in turn.  The first CPU of the turn is not defined, and this LWP is one
 * more.  So one CPU may have five LWPs and another two.
 */
TEST(new_lwps_go_to_each_cpu_in_turn)
{
	unsigned n = 3 * crowd_ncpu();
	uint64_t rounds[CROWD_MAX], least = ~0ULL, most = 0;

	if (crowd_ncpu() == 1)
		SKIP("one CPU");
	if (n > CROWD_MAX)
		SKIP("needs at most %d CPUs", CROWD_MAX);
	crowd_start(&crowd, n, -1);
	for (unsigned i = 0; i < n; i++)
		rounds[i] = crowd.lwp[i].rounds;
	crowd_sleep_us(40 * SLICE_US);
	for (unsigned i = 0; i < n; i++) {
		rounds[i] = crowd.lwp[i].rounds - rounds[i];
		least = rounds[i] < least ? rounds[i] : least;
		most = rounds[i] > most ? rounds[i] : most;
	}
	EXPECT(least * 3 > most);
	test_note(
	    "%lu to %lu rounds", (unsigned long)least, (unsigned long)most);
	crowd_end(&crowd);
}

/* One of the two runs, the other is ready: both must return. */
TEST(affinity_comes_back_with_its_cpu)
{
	int last = (int)crowd_ncpu() - 1;

	if (crowd_ncpu() == 1)
		SKIP("one CPU");
	test_run_on(last);
	crowd_start(&crowd, 0, 0);
	crowd_add(&crowd, -1);
	crowd_add(&crowd, -1);
	run_anywhere();
	EXPECT_EQ(p_online(last, P_OFFLINE), P_ONLINE);
	crowd_sleep_us(SETTLE_US);
	EXPECT(
	    crowd_where(&crowd, 0) != last && crowd_where(&crowd, 1) != last);
	EXPECT_EQ(p_online(last, P_ONLINE), P_OFFLINE);
	crowd_sleep_us(SETTLE_US);
	EXPECT_EQ(crowd_where(&crowd, 0), last);
	EXPECT_EQ(crowd_where(&crowd, 1), last);
	crowd_end(&crowd);
}

static volatile int64_t woke;

static void *
sleep_on_cpu(void *arg)
{
	test_run_on(*(int *)arg);
	crowd_sleep_us(10 * SLICE_US);
	woke = crowd_now_us();
	EXPECT(sched_getcpu() != *(int *)arg);
	return NULL;
}

TEST(a_sleep_outlives_its_cpu)
{
	int last = (int)crowd_ncpu() - 1;
	int64_t began = crowd_now_us();
	pthread_t t;

	if (last == 0)
		SKIP("one CPU");
	crowd_bind_self(0);
	REQUIRE(pthread_create(&t, NULL, sleep_on_cpu, &last) == 0);
	crowd_sleep_us(SLICE_US);
	EXPECT_EQ(p_online(last, P_OFFLINE), P_ONLINE);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT(woke - began >= 10 * SLICE_US);
	EXPECT(woke - began < 12 * SLICE_US);
	EXPECT_EQ(p_online(last, P_ONLINE), P_OFFLINE);
	crowd_bind_self(PBIND_NONE);
}

static volatile pthread_t handled_by;
static volatile int64_t handled;

static void
record_handler(int sig)
{
	handled = crowd_now_us();
	handled_by = pthread_self();
}

static volatile bool ended;

static void *
spin_on_cpu(void *arg)
{
	crowd_bind_self(*(int *)arg);
	while (!ended)
		;
	return NULL;
}

/*
 * Two LWPs do not block the signal.  One runs on another CPU; the other waits
 * for its turn on this CPU with eight more.  The signal must reach the running
 * LWP.  An emulator may need some turns of its CPUs for that.
 */
TEST(a_signal_to_the_process_goes_to_a_running_lwp)
{
	struct sigaction sa = { .sa_handler = record_handler };
	static int cpu[2] = { 1, 0 };
	pthread_t t[2];
	sigset_t set;

	if (crowd_ncpu() == 1)
		SKIP("one CPU");
	handled = 0;
	ended = false;
	sigaction(SIGUSR1, &sa, NULL);
	crowd_bind_self(0);
	for (int i = 0; i < 2; i++)
		REQUIRE(pthread_create(&t[i], NULL, spin_on_cpu, &cpu[i]) == 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	crowd_start(&crowd, 8, 0);
	crowd_sleep_us(SETTLE_US);
	int64_t sent = crowd_now_us();
	kill(getpid(), SIGUSR1);
	for (int i = 0; i < 100 && handled == 0; i++)
		crowd_sleep_us(SLICE_US);
	EXPECT(handled_by == t[0]);
	EXPECT(handled >= sent && handled - sent < 2 * SLICE_US);
	test_note("%ld us", (long)(handled - sent));
	ended = true;
	crowd_end(&crowd);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	crowd_bind_self(PBIND_NONE);
}

/* LWPs do everything while CPUs go and come, and run only where they may. */

#define NRACERS 12
#define NTURNS  60

static void
do_random_act(unsigned *seed, int ncpu)
{
	int r = rand_r(seed), cpu = r / 16 % ncpu;
	cpu_set_t set;

	switch (r % 6) {
	case 0:
		crowd_sleep_us(r / 64 % 300);
		break;
	case 1:
		sched_yield();
		break;
	case 2: /* EINVAL: it is offline */
		if (processor_bind(P_LWPID, P_MYID, cpu, NULL) == 0)
			EXPECT_EQ(sched_getcpu(), cpu);
		break;
	case 3:
		crowd_bind_self(PBIND_NONE);
		break;
	case 4:
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		CPU_SET(0, &set);
		EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
		break;
	default:
		for (volatile int i = r / 64 % 10000; i > 0; i--)
			;
	}
}

static void *
do_random_acts(void *arg)
{
	unsigned seed = *(unsigned *)arg;
	int ncpu = (int)crowd_ncpu();

	for (int i = 0; i < NTURNS; i++)
		do_random_act(&seed, ncpu);
	crowd_bind_self(PBIND_NONE);
	return NULL;
}

TEST(all_get_to_their_end_wherever_they_are_sent)
{
	unsigned seed[NRACERS], ncpu = crowd_ncpu(), off = 0;
	pthread_t t[NRACERS];

	for (unsigned i = 0; i < NRACERS; i++) {
		seed[i] = i + 1;
		REQUIRE(
		    pthread_create(&t[i], NULL, do_random_acts, &seed[i]) == 0);
	}
	for (unsigned i = 0; ncpu > 1 && i < 100; i++) {
		int cpu = (int)(1 + i % (ncpu - 1));

		/* EBUSY: an LWP is bound to it. */
		if (p_online(cpu, P_OFFLINE) == P_ONLINE)
			off++;
		crowd_sleep_us(100);
		EXPECT(p_online(cpu, P_ONLINE) > 0);
	}
	for (unsigned i = 0; i < NRACERS; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
	test_note("%u times a CPU went offline", off);
}
