/*
 * A PMU that two hardware threads share counts for no LWP while both are
 * online.  The tests need two CPUs of one core: pmu=software,shared=siblings
 * or shape=p4, or SHARED=yes if the machine's PMU is shared.
 */
#include "tests/lib/image/cpc_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>

TEST_KEEPS(16);

#define SHORT 50
#define LONG  250

static bool
is_shared(cpc_t *cpc)
{
	return p_online(1, P_STATUS) != -1 &&
	       (strstr(cpc_cciname(cpc), "shared=siblings") != NULL ||
		   strstr(cpc_cciname(cpc), "shape=p4") != NULL ||
		   getenv("SHARED") != NULL);
}

#define NEEDS_SIBLINGS()                                                       \
	do {                                                                   \
		if (!is_shared(cpc))                                           \
			SKIP("this test needs two CPUs that share a PMU");     \
	} while (0)

/* The counts of two spins differ by the difference of their lengths. */
static void
expect_counting(cpc_t *cpc, cpc_set_t *set)
{
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t before = 0, between = 0, after = 0;

	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &before);
	spin(SHORT);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &between);
	spin(LONG);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &after);
	EXPECT_EQ((after - between) - (between - before),
	    SPIN_INSNS * (LONG - SHORT));
	cpc_buf_destroy(cpc, buf);
}

/* CPC-BIND-26 */
CPC_TEST(a_pmu_shared_with_a_sibling_counts_for_no_lwp)
{
	NEEDS_SIBLINGS();
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, 0), EACCES);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 1, NULL), 0);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, 0), EACCES);

	EXPECT_EQ(p_online(0, P_OFFLINE), P_ONLINE);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	expect_counting(cpc, set);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(p_online(0, P_ONLINE), P_OFFLINE);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
}

/* A set bound while the sibling was offline loses its counters for good. */
CPC_TEST(a_sibling_that_comes_takes_the_counters)
{
	NEEDS_SIBLINGS();
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	cpc_set_t *other = set_of(cpc, INS_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 0, NULL), 0);
	EXPECT_EQ(p_online(1, P_OFFLINE), P_ONLINE);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	expect_counting(cpc, set);

	EXPECT_EQ(p_online(1, P_ONLINE), P_OFFLINE);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, other, 0), EACCES);
	EXPECT_EQ(p_online(1, P_OFFLINE), P_ONLINE);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, other, 0), 0);
	expect_counting(cpc, other);
	EXPECT_EQ(cpc_unbind(cpc, other), 0);
	EXPECT_EQ(p_online(1, P_ONLINE), P_OFFLINE);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
}

/* Only one of the siblings at a time can have a set bound to it. */
CPC_TEST(one_sibling_at_a_time_has_a_set)
{
	NEEDS_SIBLINGS();
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	cpc_set_t *other = set_of(cpc, INS_EVENT);
	EXPECT_EQ(cpc_bind_cpu(cpc, 1, set, 0), 0);
	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, other, 0), EACCES);
	expect_counting(cpc, set);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, other, 0), 0);
	expect_counting(cpc, other);
	EXPECT_EQ(cpc_unbind(cpc, other), 0);
}
