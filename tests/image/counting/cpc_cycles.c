/*
 * The cycles of a CPU are its own.
 *
 * In the emulator of scripts/qemu-pmu every instruction takes the same number
 * of cycles, and a CPU that is halted has none.  It runs one CPU after the
 * other.  The cycles of a loop are exact if the turns of the other CPUs are not
 * in them.
 */
#include "tests/lib/image/cpc_test.h"
#include "tests/lib/image/crowd.h"

TEST_KEEPS(64);

#define SHORT   50
#define LONG    2000050 /* takes several turns, see turns.c */
#define INSNS   (SPIN_INSNS * (LONG - SHORT))
#define IDLE_US 10000

#define NEEDS_OWN_CYCLES()                                                     \
	do {                                                                   \
		if (crowd_ncpu() < 2 || crowd_ncpu() > CROWD_MAX)              \
			SKIP("needs 2 to %d CPUs", CROWD_MAX);                 \
		if (!emulator_lists() || software_pmu)                         \
			SKIP("only the emulator of scripts/qemu-pmu has "      \
			     "exact cycles");                                  \
	} while (0)

static struct crowd crowd;

/* The cycles of INSNS instructions. */
static uint64_t
loop_cycles(cpc_t *cpc, cpc_set_t *set)
{
	cpc_buf_t *buf = cpc_buf_create(cpc, set);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	spin_sampled(cpc, set, buf, SHORT); /* touches code and data */
	uint64_t brief = spin_sampled(cpc, set, buf, SHORT);
	brief = spin_sampled(cpc, set, buf, LONG) - brief;
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	cpc_buf_destroy(cpc, buf);
	return brief;
}

CPC_TEST(busy_neighbours_add_no_cycles)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int ncpu = (int)crowd_ncpu();

	NEEDS_OWN_CYCLES();
	if (own_privilege() != CPC_COUNT_USER)
		SKIP("at system privilege switches are counted, too");
	uint64_t alone = loop_cycles(cpc, set);
	EXPECT(alone > 0);
	EXPECT_EQ(alone % INSNS, 0);
	crowd_start(&crowd, 1, 0);
	for (int cpu = 1; cpu < ncpu; cpu++)
		crowd_add(&crowd, cpu);
	for (int cpu = 0; cpu < ncpu; cpu++) {
		go_to(cpu);
		if (!EXPECT_EQ(loop_cycles(cpc, set), alone))
			test_note("CPU %d", cpu);
	}
	go_to(PBIND_NONE);
	crowd_end(&crowd);
}

/* The LWP that samples runs for far less than a tenth of its sleep. */
CPC_TEST(an_idle_cpu_has_no_cycles)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_OWN_CYCLES();
	add_flags(cpc, set, ANY_EVENT, CPC_COUNT_USER | CPC_COUNT_SYSTEM);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	uint64_t before = sampled(cpc, set, 0);
	crowd_sleep_us(IDLE_US);
	EXPECT(sampled(cpc, set, 0) - before < IDLE_US * 1000 / 10);
}
