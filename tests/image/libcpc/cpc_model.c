/*
 * Limits that only some CPUs have.  The software PMU is a model of these CPUs:
 * pmu=software,shape=p4 and shape=ultra (docs/boot.md).  Sentences in quotes
 * are those of cpc_bind_curlwp(3CPC).
 */
#include "tests/lib/image/cpc_test.h"

#include <signal.h>
#include <string.h>
#include <sys/processor.h>

TEST_KEEPS(32);

#define N      1000
#define USER   CPC_COUNT_USER
#define SYSTEM CPC_COUNT_SYSTEM

#define NEEDS_MODEL(shape)                                                     \
	do {                                                                   \
		if (strstr(cpc_cciname(cpc), "shape=" shape) == NULL)          \
			SKIP("this test needs pmu=software,shape=" shape);     \
	} while (0)

/* An attribute of a name and a value. */
#define ATTR(name, value)                                                      \
	(cpc_attr_t)                                                           \
	{                                                                      \
		(char[]){ name }, value                                        \
	}

static int
add_attrs(cpc_t *cpc, cpc_set_t *set, const char *event, uint_t flags,
    uint_t nattrs, const cpc_attr_t *attrs)
{
	int index =
	    cpc_set_add_request(cpc, set, event, 0, flags, nattrs, attrs);

	EXPECT(index != -1);
	return index;
}

/*
 * Pentium 4
 */

/* Keep one CPU of the two: no LWP counts otherwise. */
static void
sibling_goes(void)
{
	go_to(0);
	EXPECT_EQ(p_online(1, P_OFFLINE), P_ONLINE);
}

static void
sibling_returns(void)
{
	EXPECT_EQ(p_online(1, P_ONLINE), P_OFFLINE);
	go_to(PBIND_NONE);
}

/* The count of n instructions by one request with this mask; 0: no mask. */
static uint64_t
count_masked(cpc_t *cpc, const char *event, uint64_t emask)
{
	cpc_set_t *set = cpc_set_create(cpc);
	const cpc_attr_t attr = ATTR("emask", emask);

	add_attrs(cpc, set, event, USER, emask != 0, &attr);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(N, USER);
	uint64_t count = sampled(cpc, set, 0);
	cpc_set_destroy(cpc, set);
	return count;
}

/*
 * "Most Pentium 4 events require the specification of an event mask for
 * counting.  The event mask is specified with the emask attribute."
 */
CPC_TEST(pentium_4_events_need_an_event_mask)
{
	NEEDS_MODEL("p4");
	sibling_goes();
	EXPECT_EQ(count_masked(cpc, "instr_retired", 0), 0);
	EXPECT_EQ(count_masked(cpc, "instr_retired", 0x1), N);
	EXPECT_EQ(count_masked(cpc, "instr_retired", 0x2), 0);
	EXPECT_EQ(count_masked(cpc, "branch_retired", 0xc), N / 4);
	EXPECT_EQ(count_masked(cpc, "global_power_events", 0x1), 3 * N);
	EXPECT_EQ(count_masked(cpc, INS_EVENT, 0), N);
	sibling_returns();
}

/* A mask that the event does not have is out of range. */
CPC_TEST(an_event_mask_has_a_range)
{
	const cpc_attr_t attr = ATTR("emask", 0x10);
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_MODEL("p4");
	add_attrs(cpc, set, "branch_retired", USER, 1, &attr);
	sibling_goes();
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
	sibling_returns();
}

/* Bind branch_retired on two counters: a result, with errno. */
static int
bind_branches(cpc_t *cpc, uint64_t a, uint64_t b)
{
	const cpc_attr_t first[] = { ATTR("emask", 0xf), ATTR("picnum", a) };
	const cpc_attr_t second[] = { ATTR("emask", 0xf), ATTR("picnum", b) };
	cpc_set_t *set = cpc_set_create(cpc);
	int r, err;

	add_attrs(cpc, set, "branch_retired", USER, 2, first);
	add_attrs(cpc, set, "branch_retired", USER, 2, second);
	if ((r = cpc_bind_curlwp(cpc, set, 0)) == 0) {
		retire(N, USER);
		EXPECT_EQ(sampled(cpc, set, 0), N / 4);
		EXPECT_EQ(sampled(cpc, set, 1), N / 4);
	}
	err = errno;
	cpc_set_destroy(cpc, set);
	errno = err;
	return r;
}

/*
 * "the branch_retired event cannot be measured on counters 12 and 13
 * simultaneously because both counters require the CRU_ESCR2 ESCR".  "use
 * counters such that one counter uses CRU_ESCR2 and the other counter uses
 * CRU_ESCR3."
 */
CPC_TEST(two_counters_cannot_share_an_escr)
{
	NEEDS_MODEL("p4");
	sibling_goes();
	EXPECT_REPORTED(bind_branches(cpc, 12, 13), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
	EXPECT_REPORTED(bind_branches(cpc, 14, 17), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
	EXPECT_EQ(bind_branches(cpc, 12, 14), 0);
	EXPECT_EQ(bind_branches(cpc, 17, 16), 0);
	sibling_returns();
}

static void *
retire_on_cpu_1(void *arg)
{
	go_to(1);
	retire(N, USER);
	retire(10 * N, SYSTEM);
	return NULL;
}

/*
 * The count of CPU 0's set: N instructions of its own, and perhaps those of CPU
 * 1.
 */
static uint64_t
count_with_sibling(cpc_t *cpc, const char *attr, uint_t flags)
{
	const cpc_attr_t attrs[] = { ATTR("emask", 1),
		{ (char *)(uintptr_t)attr, 1 } };
	cpc_set_t *set = cpc_set_create(cpc);

	add_attrs(
	    cpc, set, "instr_retired", flags, attr != NULL ? 2 : 1, attrs);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	retire(N, USER);
	as_another_lwp(retire_on_cpu_1, NULL);
	go_to(0);
	uint64_t count = sampled(cpc, set, 0);
	cpc_set_destroy(cpc, set);
	return count;
}

/*
 * "the count_sibling_usr and count_sibling_sys attributes are provided for use
 * with cpc_bind_cpu().  These attributes behave exactly as the CPC_COUNT_USER
 * and CPC_COUNT_SYSTEM request flags, except that they act on the sibling
 * hardware thread".
 */
CPC_TEST(a_cpu_can_count_its_sibling)
{
	NEEDS_MODEL("p4");
	EXPECT_EQ(count_with_sibling(cpc, NULL, USER), N);
	EXPECT_EQ(count_with_sibling(cpc, "count_sibling_usr", USER), 2 * N);
	EXPECT_EQ(count_with_sibling(cpc, "count_sibling_usr", 0), N);
	EXPECT_EQ(count_with_sibling(cpc, "count_sibling_sys", USER), 11 * N);
	EXPECT_EQ(count_with_sibling(cpc, "count_sibling_sys", 0), 10 * N);
}

/*
 * UltraSPARC
 */

/* The events of the manual's first example, each on a counter of its own. */
CPC_TEST(the_examples_events_are_ultrasparcs)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_MODEL("ultra");
	EXPECT_EQ(add_flags(cpc, set, "EC_ref", USER), 0);
	EXPECT_EQ(add_flags(cpc, set, "EC_hit", USER), 1);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(N, USER);
	EXPECT_EQ(sampled(cpc, set, 0), N / 2);
	EXPECT_EQ(sampled(cpc, set, 1), N / 4);
	EXPECT(!pic_counts(cpc, "EC_ref", 1));
	EXPECT(!pic_counts(cpc, "EC_hit", 0));
}

/* Both counters have one privilege filter. */
CPC_TEST(ultrasparc_counts_one_mode)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_MODEL("ultra");
	add_flags(cpc, set, "Cycle_cnt", USER);
	add_flags(cpc, set, "Instr_cnt", USER | SYSTEM);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_CONFLICTING_REQS);
	set = cpc_set_create(cpc);
	add_flags(cpc, set, "Cycle_cnt", USER | SYSTEM);
	add_flags(cpc, set, "Instr_cnt", USER | SYSTEM);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(N, USER);
	retire(N, SYSTEM);
	EXPECT_EQ(sampled(cpc, set, 0), 3 * 2 * N);
	EXPECT_EQ(sampled(cpc, set, 1), 2 * N);
}

/*
 * "the UltraSPARC processor, does not record which counter overflowed".  A
 * notify request also signals when "any counter in its set overflows".
 */
CPC_TEST(ultrasparc_signals_any_overflow)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_MODEL("ultra");
	EXPECT_EQ(cpc_caps(cpc), CPC_CAP_OVERFLOW_INTERRUPT);
	EXPECT_EQ(cpc_set_add_request(cpc, set, "Cycle_cnt", 0,
		      USER | CPC_OVF_NOTIFY_EMT, 0, NULL),
	    0);
	EXPECT_EQ(cpc_set_add_request(cpc, set, "Instr_cnt",
		      UINT64_MAX - (N - 1), USER, 0, NULL),
	    1);
	test_nsignal = 0;
	signal(SIGEMT, test_note_signal);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(N - 1, USER);
	EXPECT_EQ(test_nsignal, 0);
	retire(1, USER);
	EXPECT_EQ(test_nsignal, 1);
	EXPECT_EQ(sampled(cpc, set, 0), 3 * N); /* it has not overflowed */
	EXPECT_EQ(sampled(cpc, set, 1), 0);
	signal(SIGEMT, SIG_DFL);
}
