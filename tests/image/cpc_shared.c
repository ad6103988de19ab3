/*
 * A PMU that two hardware threads share counts for no LWP while both are
 * online: pcbe=null,shared=siblings, on two CPUs.
 */
#include "tests/image/cpc_test.h"

#include <string.h>
#include <sys/processor.h>

TEST_KEEPS(16);

/*
 * CPC-BIND-26, and part 7.7: a set that was bound while its CPU was alone has
 * lost the counters when the sibling comes.
 */
CPC_TEST(a_pmu_shared_with_a_sibling_is_no_lwps)
{
	cpc_set_t *set, *other;
	cpc_buf_t *buf;

	if (strstr(cpc_cciname(cpc), "shared=siblings") == NULL ||
	    p_online(1, P_STATUS) == -1)
		SKIP("this takes pcbe=null,shared=siblings and two CPUs");
	set = set_of(cpc, "instructions");
	other = set_of(cpc, "instructions");
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, 0), EACCES);

	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 0, NULL), 0);
	EXPECT_EQ(p_online(1, P_OFFLINE), P_ONLINE);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	spin(50);
	EXPECT_EQ(sampled(cpc, set, 0), 100);
	buf = cpc_buf_create(cpc, set);
	EXPECT_EQ(p_online(1, P_ONLINE), P_OFFLINE);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, other, 0), EACCES);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
}

/* Part 4.5: of the siblings one at a time counts for a set of its own. */
CPC_TEST(one_sibling_at_a_time)
{
	cpc_set_t *set, *other;

	if (strstr(cpc_cciname(cpc), "shared=siblings") == NULL ||
	    p_online(1, P_STATUS) == -1)
		SKIP("this takes pcbe=null,shared=siblings and two CPUs");
	set = set_of(cpc, "instructions");
	other = set_of(cpc, "instructions");
	EXPECT_EQ(cpc_bind_cpu(cpc, 1, set, 0), 0);
	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, other, 0), EACCES);
	spin(50);
	EXPECT_EQ(sampled(cpc, set, 0), 100);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, other, 0), 0);
	EXPECT_EQ(cpc_unbind(cpc, other), 0);
}
