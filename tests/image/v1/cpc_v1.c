/*
 * Version 1: an event of two counters is parsed, bound, sampled and released.
 * Counts are exact: the difference of two loops cancels all but their lengths.
 */
#include "tests/lib/image/v1_test.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Pages of threads' stacks, which the C library keeps. */
TEST_KEEPS(32);

#define SHORT 1000
#define LONG  3000
#define WANT  (SPIN_INSNS * (LONG - SHORT))

/* The count of counter 0 for one spin of the bound event. */
static uint64_t
count_spin(uint64_t iterations)
{
	cpc_event_t before, after;

	EXPECT_EQ(cpc_take_sample(&before), 0);
	spin(iterations);
	EXPECT_EQ(cpc_take_sample(&after), 0);
	cpc_event_diff(&after, &after, &before);
	EXPECT_EQ(after.ce_pic[0], after.ce_pic[1]);
	return after.ce_pic[0];
}

/*
 * The least count of a few spins.  At system privilege a sample counts its own
 * system call, too.  The call takes longer where another CPU has the kernel
 * lock, or where it is interrupted.  Both only add, and a spin lasts a
 * thousandth of a tick.  So the least is the call without either.
 */
static uint64_t
least_spin(uint64_t iterations)
{
	uint64_t least = UINT64_MAX, count;

	for (int round = 0; round < 8; round++) {
		count = count_spin(iterations);
		least = count < least ? count : least;
	}
	return least;
}

/* Both counters of the bound event count exactly. */
static void
expect_exact(void)
{
	uint64_t once = least_spin(SHORT);
	EXPECT_EQ(least_spin(LONG) - once, WANT);
}

/* CPC-V1-02, CPC-V1-04 */
V1_TEST(a_known_loop_is_counted_exactly)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT);

	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	expect_exact();
	EXPECT_EQ(cpc_rele(), 0);
}

/* CPC-V1-04: times and ticks go on; the difference keeps left's time. */
V1_TEST(samples_have_time_ticks_and_words)
{
	cpc_event_t event = v1_event(ANY_EVENT, ANY_EVENT), a, b, diff;
	hrtime_t begin = gethrtime();

	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	EXPECT_EQ(cpc_take_sample(&a), 0);
	work();
	EXPECT_EQ(cpc_take_sample(&b), 0);
	EXPECT(a.ce_hrt >= begin && b.ce_hrt > a.ce_hrt);
	EXPECT(CPC_TICKREG(&b) > CPC_TICKREG(&a));
	EXPECT_EQ(b.ce_cpuver, cpc_getcpuver());
	EXPECT(memcmp(b.ce_pes, event.ce_pes, sizeof b.ce_pes) == 0);
	cpc_event_diff(&diff, &b, &a);
	EXPECT_EQ(diff.ce_hrt, b.ce_hrt);
	EXPECT_EQ(diff.ce_tick, b.ce_tsc - a.ce_tsc);
	EXPECT(diff.ce_pic[0] > 0 && diff.ce_pic[1] > 0);
	EXPECT_EQ(cpc_rele(), 0);
}

/* The presets are the event's values; memset and initialisers make one. */
V1_TEST(counting_starts_at_the_values)
{
	cpc_event_t event = v1_event(ANY_EVENT, ANY_EVENT), now;
	const cpc_event_t same = {
		.ce_cpuver = event.ce_cpuver,
		.ce_pic = { 1ULL << 40, 1ULL << 41 },
		.ce_pes = { event.ce_pes[0], event.ce_pes[1] },
	};
	cpc_event_t copy = same;

	memset(&now, 0, sizeof now);
	EXPECT_EQ(cpc_bind_event(&copy, 0), 0);
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT(now.ce_pic[0] >= 1ULL << 40 && now.ce_pic[0] < 1ULL << 41);
	EXPECT(now.ce_pic[1] >= 1ULL << 41);
	EXPECT_EQ(copy.ce_pic[0], 1ULL << 40);
	EXPECT_EQ(cpc_rele(), 0);
}

/* CPC-V1-06, CPC-V1-07 */
V1_TEST(unbound_calls_fail_and_rele_does_not)
{
	cpc_event_t event = v1_event(ANY_EVENT, ANY_EVENT), now;

	EXPECT_EQ(cpc_rele(), 0);
	EXPECT_ERRNO(cpc_take_sample(&now), EINVAL);
	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT_ERRNO(cpc_take_sample(NULL), EINVAL);
	EXPECT_EQ(cpc_bind_event(NULL, 0), 0);
	EXPECT_ERRNO(cpc_take_sample(&now), EINVAL);
	EXPECT_EQ(cpc_rele(), 0);
}

/* A bad event or flag leaves the old event; so does a failing sample. */
V1_TEST(bad_binds_keep_the_event)
{
	cpc_event_t event = v1_event(ANY_EVENT, ANY_EVENT), bad = event, now;

	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	bad.ce_cpuver++;
	EXPECT_ERRNO(cpc_bind_event(&bad, 0), EINVAL);
	EXPECT_ERRNO(cpc_bind_event(&event, 0x4), EINVAL);
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT_EQ(cpc_rele(), 0);
}

/* An event and a set displace each other. */
CPC_TEST(an_event_and_a_set_displace_each_other)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	cpc_event_t event, now;

	NEEDS_V1();
	event = v1_event(ANY_EVENT, ANY_EVENT);
	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_ERRNO(cpc_take_sample(&now), EINVAL);
	EXPECT_EQ(cpc_rele(), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EINVAL);
	EXPECT_EQ(cpc_close(cpc_open(CPC_VER_CURRENT)), 0);
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT_EQ(cpc_rele(), 0);
}

/* Threads */

static cpc_event_t the_event;
static pthread_barrier_t step_barrier;

/* Count `iterations` alone, while the others do the same. */
static void *
count_own(void *arg)
{
	uint64_t iterations = (uintptr_t)arg, once, twice;

	EXPECT_EQ(cpc_bind_event(&the_event, 0), 0);
	pthread_barrier_wait(&step_barrier);
	once = least_spin(SHORT);
	twice = least_spin(SHORT + iterations);
	EXPECT_EQ(twice - once, SPIN_INSNS * iterations);
	pthread_barrier_wait(&step_barrier);
	EXPECT_EQ(cpc_rele(), 0);
	return NULL;
}

/* One event is bound by every thread, and each has its own counts. */
V1_TEST(every_thread_binds_one_event)
{
	pthread_t t[3];

	the_event = v1_event(INS_EVENT, INS_EVENT);
	pthread_barrier_init(&step_barrier, NULL, 3);
	for (uintptr_t i = 0; i < 3; i++)
		REQUIRE(pthread_create(&t[i], NULL, count_own,
			    (void *)(1000 * (i + 1))) == 0);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
}

static void *
sample_inherited(void *arg)
{
	cpc_event_t *now = arg;

	EXPECT_EQ(cpc_take_sample(now), 0);
	EXPECT(memcmp(now->ce_pes, the_event.ce_pes, sizeof now->ce_pes) == 0);
	expect_exact();
	return NULL;
}

static void *
sample_nothing(void *arg)
{
	EXPECT_ERRNO(cpc_take_sample(arg), EINVAL);
	return NULL;
}

/* With the flag a new LWP has the event, from the presets; without it none. */
V1_TEST(new_threads_inherit_the_event)
{
	cpc_event_t now, own;

	the_event = v1_event(INS_EVENT, INS_EVENT);
	EXPECT_EQ(cpc_bind_event(&the_event, CPC_BIND_LWP_INHERIT), 0);
	spin(100000);
	as_another_lwp(sample_inherited, &now);
	EXPECT(now.ce_pic[0] < 100000);
	EXPECT_EQ(cpc_take_sample(&own), 0);
	EXPECT(own.ce_pic[0] >= 200000);
	EXPECT_EQ(cpc_bind_event(&the_event, 0), 0);
	as_another_lwp(sample_nothing, &now);
	EXPECT_EQ(cpc_rele(), 0);
}

/* A forked process has no event, and can bind one. */
V1_TEST(a_fork_has_no_event)
{
	cpc_event_t event = v1_event(ANY_EVENT, ANY_EVENT), now;
	pid_t pid;

	EXPECT_EQ(cpc_bind_event(&event, CPC_BIND_LWP_INHERIT), 0);
	REQUIRE((pid = fork()) >= 0);
	if (pid == 0)
		_exit(cpc_take_sample(&now) == 0 || errno != EINVAL ? 1
		      : cpc_bind_event(&event, 0) != 0              ? 2
		      : cpc_take_sample(&now) != 0                  ? 3
								    : 0);
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT_EQ(cpc_rele(), 0);
}

/* Levels */

/*
 * CPC-V1-09: the values stay while user mode is not counted, and go on after.
 * At system privilege the same holds for system mode.
 */
V1_TEST(counting_of_a_level_stops_and_goes_on)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT), a, b, c;
	int (*own)(int) = own_privilege() == CPC_COUNT_USER
	                      ? cpc_count_usr_events
	                      : cpc_count_sys_events;

	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	spin(LONG);
	EXPECT_EQ(own(0), 0);
	EXPECT_EQ(cpc_take_sample(&a), 0);
	EXPECT(a.ce_pic[0] >= SPIN_INSNS * LONG);
	spin(LONG);
	EXPECT_EQ(cpc_take_sample(&b), 0);
	EXPECT_EQ(b.ce_pic[0], a.ce_pic[0]);
	EXPECT_EQ(b.ce_pic[1], a.ce_pic[1]);
	EXPECT_EQ(own(1), 0);
	EXPECT_EQ(cpc_take_sample(&c), 0);
	EXPECT(memcmp(c.ce_pes, event.ce_pes, sizeof c.ce_pes) == 0);
	EXPECT(c.ce_pic[0] - a.ce_pic[0] < 10000);
	expect_exact();
	EXPECT_EQ(cpc_rele(), 0);
	EXPECT_ERRNO(own(1), EINVAL);
}

/* System mode adds the kernel's work of each call. */
V1_TEST(system_events_are_added)
{
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT), a, b;

	if (own_privilege() != CPC_COUNT_USER || software_pmu)
		SKIP("this test needs user privilege and a real PMU");
	event.ce_pes[0] &= ~(1U << 16);
	EXPECT_EQ(cpc_bind_event(&event, 0), 0);
	EXPECT_EQ(cpc_take_sample(&a), 0);
	EXPECT_EQ(a.ce_pic[0], 0);
	EXPECT_EQ(cpc_count_sys_events(1), 0);
	EXPECT_EQ(cpc_take_sample(&a), 0);
	EXPECT_EQ(cpc_take_sample(&b), 0);
	EXPECT(b.ce_pic[0] > a.ce_pic[0]);
	EXPECT(b.ce_pic[1] > a.ce_pic[1]);
	EXPECT_EQ(cpc_rele(), 0);
}
