/*
 * The fake PMU detects violations of rules that emulators do not enforce: see
 * the Arm ARM (DDI 0487).  It also shows that every ISB of the backend is
 * needed: without any one of them, the fake PMU reports a fault.
 */
#include "tests/lib/host/arm64/pmuv3_set.h"

static const struct pcbe_ops *const ops = &pmuv3_pcbe_ops;

/* Start with a fresh PMU and no faults. */
static void
count_faults(void)
{
	boot(&shape_v3p5);
	fake_faults = 0;
	fake_counts_faults = true;
}

static void
assert_fault(void)
{
	assert_int_not_equal(fake_faults, 0);
	fake_faults = 0;
}

TEST(start_needs_an_isb)
{
	static const struct {
		const char *reg;
		uint64_t value;
	} writes[] = {
		{ "pmevcntr2_el0", 1 },
		{ "pmevtyper2_el0", 8 },
		{ "pmovsclr_el0", 4 },
		{ "pmintenset_el1", 4 },
		{ "pmcr_el0", 0xc1 },
	};

	for (unsigned i = 0; i < sizeof writes / sizeof writes[0]; i++) {
		count_faults();
		fake_msr(writes[i].reg, writes[i].value);
		fake_msr("pmcntenset_el0", 4);
		assert_fault();
		count_faults();
		fake_msr(writes[i].reg, writes[i].value);
		fake_isb();
		fake_msr("pmcntenset_el0", 4);
		assert_int_equal(fake_faults, 0);
		fake_run(0, 1);
		assert_fault();
	}
}

TEST(counts_are_read_after_an_isb)
{
	count_faults();
	fake_msr("pmcntenset_el0", 1);
	fake_isb();
	fake_run(0, 1);
	fake_mrs("pmevcntr0_el0");
	assert_fault();
	fake_mrs("pmccntr_el0");
	assert_fault();
	fake_mrs("pmovsclr_el0");
	assert_fault();
	fake_msr("pmcntenclr_el0", 1);
	fake_mrs("pmevcntr0_el0");
	assert_fault();
	fake_isb();
	fake_mrs("pmevcntr0_el0");
	assert_int_equal(fake_faults, 0);
}

TEST(running_pics_are_not_written)
{
	count_faults();
	fake_msr("pmcntenset_el0", 2);
	fake_isb();
	fake_msr("pmevcntr1_el0", 0);
	assert_fault();
	fake_msr("pmevtyper1_el0", 8);
	assert_fault();
	fake_msr("pmcntenclr_el0", 2);
	fake_msr("pmevcntr1_el0", 0);
	assert_fault();
	fake_isb();
	fake_msr("pmevcntr1_el0", 0);
	assert_int_equal(fake_faults, 0);
}

TEST(reserved_bits_and_absent_registers)
{
	struct fake_shape shape = shape_v3p5;

	count_faults();
	fake_msr("pmevtyper0_el0", 1 << 16);
	assert_fault();
	fake_msr("pmcr_el0", 1 << 8);
	assert_fault();
	fake_msr("pmuserenr_el0", 1); /* EN: EL0 may write */
	assert_fault();
	fake_msr("pmevcntr6_el0", 0);
	assert_fault();
	fake_mrs("pmevcntr6_el0");
	assert_fault();
	fake_msr("pmswinc_el0", 1);
	assert_fault();

	/* Bits of absent counters are ignored: they stay 0. */
	fake_isb();
	fake_msr("pmcntenset_el0", ~0ULL);
	fake_msr("pmintenset_el1", ~0ULL);
	assert_int_equal(fake_faults, 0);
	assert_int_equal(fake_pmu[0].pmcnten, 0x8000003f);
	assert_int_equal(fake_pmu[0].pminten, 0x8000003f);

	shape.version = 1;
	boot(&shape);
	fake_faults = 0;
	fake_counts_faults = true;
	fake_msr("pmevcntr0_el0", 1ULL << 32);
	assert_fault();
	fake_msr("pmevtyper0_el0", 0x400);
	assert_fault();
	fake_msr("pmcr_el0", PMCR_E | PMCR_LP);
	assert_fault();
}

/* Every operation on a set: sample while it runs, stop, read at EL0. */
static void
use_every_operation(void)
{
	struct set s;
	uint64_t v;

	pmuv3_pcbe_init(false, MIDR_EMULATED);
	set_one(&s, "inst_retired", 0, CPC_COUNT_USER, 0);
	set_start(&s);
	fake_el0_read(0, &v);
	fake_run(0, 3);
	set_sample(&s);
	fake_run(0, 3);
	ops->allstop();
	ops->overflow_bitmap();
	fake_run(0, 1);
	ops->allstop();
	fake_run(0, 1);
}

TEST(every_isb_is_needed)
{
	boot(&shape_v3p5);
	fake_pmu[0].isbs = 0;
	use_every_operation();
	unsigned n = fake_pmu[0].isbs;
	assert_int_not_equal(n, 0);
	for (unsigned i = 1; i <= n; i++) {
		count_faults();
		fake_lost_isb = i;
		use_every_operation();
		if (fake_faults == 0)
			fail_msg("no fault without ISB %u of %u", i, n);
	}
	boot(&shape_v3p5);
}
