/*
 * An extra MSR that a running set uses keeps its value, whatever other binds
 * fail or run elsewhere.  In the emulator OFFCORE_RESPONSE_0 counts
 * instructions with demand reads, and branches with demand writes
 * (qemu/README.md).  So a set whose register changed counts half.
 */
#include <sys/processor.h>
#include <unistd.h>

#include "tests/image/pctx/pctx_test.h"

TEST_KEEPS(64);

#define READS  "OFFCORE_RESPONSE_0:DMND_DATA_RD"
#define WRITES "OFFCORE_RESPONSE_0:DMND_RFO"

/* A set that counts reads is bound to this LWP. */
static cpc_set_t *
counting(cpc_t *cpc)
{
	cpc_set_t *set = set_of(cpc, READS);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	expect_exact_spin(cpc, set);
	return set;
}

CPC_TEST(writes_are_counted_as_branches)
{
	cpc_set_t *set = set_of(cpc, WRITES);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	uint64_t brief = spin_sampled(cpc, set, buf, SPIN_SHORT);
	EXPECT_EQ(spin_sampled(cpc, set, buf, SPIN_LONG) - brief,
	    SPIN_LONG - SPIN_SHORT);
}

/* fn() runs in another LWP of CPU 0, while a set of this one counts there. */
static void
expect_kept(cpc_t *cpc, void *(*fn)(void *))
{
	go_to(0);
	cpc_set_t *set = counting(cpc);
	as_another_lwp(fn, cpc);
	expect_exact_spin(cpc, set);
	go_to(PBIND_NONE);
}

/* The register does not take the value of the later request. */
static void *
refused_bind(void *cpc)
{
	cpc_attr_t reserved[] = { { "umask", 1 }, { "msr_offcore", 0x1000 } };
	cpc_set_t *set = set_of(cpc, WRITES);

	go_to(0);
	EXPECT_EQ(cpc_set_add_request(
		      cpc, set, "0xbb", 0, own_privilege(), 2, reserved),
	    1);
	EXPECT_ERRNO(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	cpc_set_destroy(cpc, set);
	return NULL;
}

CPC_TEST(a_bind_refused_at_a_later_request)
{
	expect_kept(cpc, refused_bind);
}

static void *
bind_to_cpu_1(void *cpc)
{
	cpc_set_t *set = set_of(cpc, WRITES);

	go_to(0);
	EXPECT_EQ(cpc_bind_cpu(cpc, 1, set, 0), 0);
	cpc_set_destroy(cpc, set);
	return NULL;
}

CPC_TEST(a_bind_to_another_cpu)
{
	cpc_set_t *set = set_of(cpc, READS);

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("there is one CPU");
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	expect_exact_spin(cpc, set);
	as_another_lwp(bind_to_cpu_1, cpc);
	expect_exact_spin(cpc, set);
}

static struct controller {
	cpc_t *cpc;
	cpc_set_t *set, *other;
} controller;

static int
bind_other(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	struct controller *c = &controller;

	EXPECT_EQ(cpc_bind_pctx(c->cpc, px, id, c->other, 0), 0);
	expect_exact_spin(c->cpc, c->set);
	return 0;
}

CPC_TEST(a_bind_to_a_controlled_process)
{
	pctx_t *px = target("spin", "100", NULL);

	REQUIRE(px != NULL);
	controller =
	    (struct controller){ cpc, counting(cpc), set_of(cpc, WRITES) };
	pctx_set_events(px, PCTX_INIT_LWP_EVENT, bind_other, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	pctx_release(px);
	expect_exact_spin(cpc, controller.set);
}
