/*
 * A PMU that two hardware threads share counts for no LWP while both are
 * online: pcbe=null,shared=siblings, on two CPUs.
 */
#include "tests/image/cpc_test.h"

#include <string.h>
#include <sys/processor.h>

TEST_KEEPS(16);

/* CPC-BIND-26: which leaves an older binding alone. */
CPC_TEST(a_pmu_shared_with_a_sibling_is_no_lwps)
{
	cpc_set_t *set, *other;

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
	EXPECT_EQ(p_online(1, P_ONLINE), P_OFFLINE);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, other, 0), EACCES);
	EXPECT_EQ(sampled(cpc, set, 0), 100);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
}
