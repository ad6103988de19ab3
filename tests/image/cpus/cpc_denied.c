/* With cpc_cpu=no a program counts only its own LWPs. */
#include "tests/lib/image/cpc_test.h"

#include <string.h>
#include <unistd.h>

TEST_KEEPS(16);

/* CPC-CPU-06: the privilege is checked after the flags and the CPU's number. */
CPC_TEST(no_cpu_can_be_bound)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int cpu = 99;

	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, set, 0), EACCES);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_QUERY, &cpu), 0);
	EXPECT_EQ(cpu, PBIND_NONE);
	EXPECT_REPORTED(cpc_bind_cpu(cpc, 1000, set, 0), EINVAL, "cpc_bind_cpu",
	    CPC_PBIND_FAILED);
	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, set, 1), EINVAL);
}

/* cpc_shared_open(3CPC): "does not have appropriate privilege". */
CPC_TEST(no_cpu_can_be_opened)
{
	EXPECT(cpc_npic(cpc) > 0);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 0, NULL), 0);
	EXPECT_ERRNO(cpc_shared_open(), EACCES);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
}

/* CPC-CPU-06 in a forked process. */
CPC_TEST(forked_processes_have_no_privilege)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (pid == 0)
		_exit(cpc_bind_cpu(cpc, 0, set, 0) == -1 && errno == EACCES
			  ? 0
			  : 1);
	EXPECT_EQ(test_wait_status(pid), 0);
}

static void
note_attr(void *arg, const char *attr)
{
	*(bool *)arg |= strcmp(attr, "anythr") == 0;
}

/* CPC-BIND-16: any value needs the privilege. */
CPC_TEST(privileged_attributes_are_refused)
{
	cpc_attr_t attr = { (char[]){ "anythr" }, 0 };
	bool have = false;
	cpc_set_t *set;

	cpc_walk_attrs(cpc, &have, note_attr);
	if (!have)
		SKIP("this PMU has no privileged attribute");
	for (uint64_t v = 0; v < 2; v++) {
		attr.ca_val = v;
		set = cpc_set_create(cpc);
		/* ANY_EVENT is a generic event and would take no attribute. */
		EXPECT_EQ(cpc_set_add_request(
			      cpc, set, "0x3c", 0, CPC_COUNT_USER, 1, &attr),
		    0);
		EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EACCES,
		    "cpc_bind_curlwp", CPC_ATTR_REQUIRES_PRIVILEGE);
	}
}

CPC_TEST(hypervisor_mode_is_refused)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_flags(cpc, set, ANY_EVENT, CPC_COUNT_USER | CPC_COUNT_HV);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EACCES, "cpc_bind_curlwp",
	    CPC_HV_NO_ACCESS);
}

/* A program needs no privilege to count for its own LWPs. */
CPC_TEST(its_own_lwps_are_counted)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_flags(cpc, set, ANY_EVENT, CPC_COUNT_USER | CPC_COUNT_SYSTEM);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT), 0);
	work();
	EXPECT(sampled(cpc, set, 0) > 0);
}
