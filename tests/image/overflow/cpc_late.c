/*
 * An overflow interrupt may come too late, twice, or never, as under a
 * hypervisor.  No count changes by that, and no other set gets the signal.
 *
 * The software PMU's interrupt comes pmu=software,late=N instructions after
 * its overflow, whatever the program has done since (docs/boot.md).  With
 * pmi=twice another one follows; with pmi=never it does not come.  Only
 * retire() advances the counts, so every count is known.
 */
#include "tests/lib/image/cpc_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <time.h>

#define USER   CPC_COUNT_USER
#define NOTIFY CPC_OVF_NOTIFY_EMT
#define PERIOD 100 /* the overflow is the last instruction of it */
#define OTHER  5   /* instructions between the overflow and the step */

TEST_KEEPS(16);

/* The number after `key` in the PMU's name, or 0. */
static uint64_t
shape_number(cpc_t *cpc, const char *key)
{
	const char *at = strstr(cpc_cciname(cpc), key);

	return at != NULL ? strtoull(at + strlen(key), NULL, 0) : 0;
}

static bool
never_comes(cpc_t *cpc)
{
	return strstr(cpc_cciname(cpc), "pmi=never") != NULL;
}

#define NEEDS_LATE()                                                           \
	do {                                                                   \
		if (!software_pmu || shape_number(cpc, ",late=") <= OTHER)     \
			SKIP("this test needs pmu=software,late=N");           \
	} while (0)

static cpc_set_t *
set_with(cpc_t *cpc, uint64_t preset, uint_t flags)
{
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT_EQ(cpc_set_add_request(
		      cpc, set, "instructions", preset, USER | flags, 0, NULL),
	    0);
	return set;
}

/* Bind a set whose next overflow is OTHER instructions ago. */
static cpc_set_t *
overflowed(cpc_t *cpc, uint_t flags)
{
	cpc_set_t *set = set_with(cpc, UINT64_MAX - (PERIOD - 1), flags);

	test_nsignal = 0;
	signal(SIGEMT, test_note_signal);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(PERIOD + OTHER, USER);
	EXPECT_EQ(test_nsignal, 0);
	return set;
}

/* Retire so many instructions that the interrupt comes, if it ever does. */
static uint64_t
outlast(cpc_t *cpc)
{
	uint64_t n = shape_number(cpc, ",late=") + PERIOD;

	retire(n, USER);
	return n;
}

CPC_TEST(a_late_interrupt_is_a_late_signal)
{
	NEEDS_LATE();
	cpc_set_t *set = overflowed(cpc, NOTIFY);
	uint64_t late = shape_number(cpc, ",late=");
	retire(late - OTHER - 1, USER);
	EXPECT_EQ(test_nsignal, 0);
	retire(1, USER);
	EXPECT_EQ(test_nsignal, !never_comes(cpc));
	/* A frozen set does not count the second interrupt's instructions. */
	retire(50, USER);
	EXPECT_EQ(sampled(cpc, set, 0), late + (never_comes(cpc) ? 50 : 0));
	EXPECT_EQ(test_nsignal, 1); /* a sample finds an overflow, too */
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}

CPC_TEST(an_interrupt_after_a_stop_changes_nothing)
{
	NEEDS_LATE();
	cpc_set_t *set = overflowed(cpc, 0);
	EXPECT_EQ(cpc_disable(cpc), 0);
	outlast(cpc);
	EXPECT_EQ(sampled(cpc, set, 0), OTHER);
	EXPECT_EQ(cpc_enable(cpc), 0);
	retire(7, USER);
	EXPECT_EQ(sampled(cpc, set, 0), OTHER + 7);
	EXPECT_EQ(test_nsignal, 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}

/* The set that is bound now goes on counting, and gets no signal. */
CPC_TEST(an_interrupt_after_an_unbind_is_not_the_next_sets)
{
	NEEDS_LATE();
	cpc_set_t *first = overflowed(cpc, NOTIFY);
	EXPECT_EQ(cpc_unbind(cpc, first), 0);
	EXPECT_EQ(test_nsignal, 0);
	cpc_set_t *second = set_with(cpc, UINT64_MAX - 1000000000, NOTIFY);
	EXPECT_EQ(cpc_bind_curlwp(cpc, second, 0), 0);
	uint64_t n = outlast(cpc);
	EXPECT_EQ(test_nsignal, 0);
	EXPECT_EQ(sampled(cpc, second, 0), UINT64_MAX - 1000000000 + n);
	EXPECT_EQ(cpc_unbind(cpc, second), 0);
}

CPC_TEST(an_interrupt_without_a_set_changes_nothing)
{
	NEEDS_LATE();
	EXPECT_EQ(cpc_unbind(cpc, overflowed(cpc, NOTIFY)), 0);
	outlast(cpc);
	EXPECT_EQ(test_nsignal, 0);
	cpc_set_t *set = set_with(cpc, 0, 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(13, USER);
	EXPECT_EQ(sampled(cpc, set, 0), 13);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}

/* Another LWP of the CPU, with a set of its own or without. */
static cpc_t *the_cpc;

static void *
count_meanwhile(void *with_set)
{
	if (with_set == NULL) {
		outlast(the_cpc);
		return NULL;
	}
	cpc_set_t *set = set_with(the_cpc, UINT64_MAX - 1000000000, NOTIFY);
	EXPECT_EQ(cpc_bind_curlwp(the_cpc, set, 0), 0);
	uint64_t n = outlast(the_cpc);
	EXPECT_EQ(sampled(the_cpc, set, 0), UINT64_MAX - 1000000000 + n);
	EXPECT_EQ(cpc_unbind(the_cpc, set), 0);
	return NULL;
}

static void
switch_to(cpc_t *cpc, void *with_set)
{
	the_cpc = cpc;
	go_to(0);
	cpc_set_t *set = overflowed(cpc, NOTIFY);
	/* The switch finds the overflow: the signal is this LWP's. */
	as_another_lwp(count_meanwhile, with_set);
	EXPECT_EQ(test_nsignal, 1);
	EXPECT_EQ(sampled(cpc, set, 0), OTHER);
	outlast(cpc);
	EXPECT_EQ(sampled(cpc, set, 0), OTHER);
	EXPECT_EQ(test_nsignal, 1);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	go_to(PBIND_NONE);
}

CPC_TEST(an_interrupt_after_a_switch_is_not_the_next_lwps)
{
	NEEDS_LATE();
	switch_to(cpc, &the_cpc);
}

CPC_TEST(an_interrupt_after_a_switch_needs_no_set)
{
	NEEDS_LATE();
	switch_to(cpc, NULL);
}

/* The CPU idles while the LWP sleeps, and the interrupt is still to come. */
CPC_TEST(an_interrupt_after_idling_changes_nothing)
{
	const struct timespec nap = { .tv_nsec = 2000000 };

	NEEDS_LATE();
	cpc_set_t *set = overflowed(cpc, 0);
	EXPECT_EQ(nanosleep(&nap, NULL), 0);
	EXPECT_EQ(sampled(cpc, set, 0), OTHER);
	uint64_t n = outlast(cpc);
	EXPECT_EQ(sampled(cpc, set, 0), OTHER + n);
	EXPECT_EQ(test_nsignal, 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}

/* Each overflow is counted once, however many interrupts there are. */
CPC_TEST(wraps_are_counted_once)
{
	const uint64_t wrap = 1ULL << 16;
	uint64_t retired = 0;

	NEEDS_LATE();
	if (shape_number(cpc, ",width=") != 16)
		SKIP("this test needs pmu=software,width=16");
	cpc_set_t *set = set_with(cpc, 0, 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	for (unsigned i = 0; i < 200; i++) {
		retire(wrap / 3 + i, USER);
		retired += wrap / 3 + i;
		EXPECT_EQ(sampled(cpc, set, 0), retired);
	}
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}
