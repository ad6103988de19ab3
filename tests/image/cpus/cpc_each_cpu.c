/* An LWP counts exactly on each CPU, also beyond the first 64 of a mask. */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <unistd.h>

TEST_KEEPS(16);

static unsigned
all_cpus(void)
{
	return (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

/* CPUS_WANTED=N: the machine has N CPUs. */
TEST(all_cpus_are_there)
{
	const char *wanted = getenv("CPUS_WANTED");

	if (wanted == NULL)
		SKIP("CPUS_WANTED does not give the number of CPUs");
	EXPECT_EQ(all_cpus(), strtoul(wanted, NULL, 10));
}

CPC_TEST(each_cpu_counts_exactly)
{
	cpc_set_t *set = set_of(cpc, INS_EVENT);

	for (unsigned i = 0; i < all_cpus(); i++) {
		EXPECT_EQ(processor_bind(P_LWPID, P_MYID, (int)i, NULL), 0);
		EXPECT_EQ(sched_getcpu(), i);
		EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
		expect_exact_spin(cpc, set);
		EXPECT_EQ(cpc_unbind(cpc, set), 0);
	}
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
}

/* Linux's affinity masks contain all CPUs, and move an LWP to the last. */
TEST(masks_hold_all_cpus)
{
	unsigned n = all_cpus(), last = n - 1;
	cpu_set_t set;

	CPU_ZERO(&set);
	EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
	EXPECT_EQ(CPU_COUNT(&set), n);
	CPU_ZERO(&set);
	CPU_SET(last, &set);
	EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
	EXPECT_EQ(sched_getcpu(), last);
	memset(&set, 0xff, sizeof set);
	EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
	if (last > 0) {
		EXPECT_EQ(p_online((int)last, P_OFFLINE), P_ONLINE);
		EXPECT_EQ(all_cpus(), last);
		EXPECT_EQ(p_online((int)last, P_ONLINE), P_OFFLINE);
	}
}
