/*
 * The counts of the PMUv3 backend: exactly the instructions between start and
 * stop, in 64 bits for any counter width.  Other sets cannot read the counts.
 * Arm ARM (DDI 0487), "PMEVCNTR<n>_EL0", "PMOVSCLR_EL0", "PMUSERENR_EL0".
 */
#include "tests/lib/host/arm64/pmuv3_set.h"

#define USER   CPC_COUNT_USER
#define NOTIFY (CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT)

static const struct pcbe_ops *const ops = &pmuv3_pcbe_ops;

/* The shape of QEMU's cortex-a72. */
static const struct fake_shape shape_v3 = {
	.version = 1,
	.nevent = 6,
	.ceid = { CEID0_QEMU, 0 },
};

PMUV3_TEST(retired_instructions_are_counted_exactly)
{
	struct set s;

	boot(&shape_v3p5);
	set_one(&s, "inst_retired", 2, USER, 0);
	for (uint64_t n = 0; n < 50; n++) {
		s.data[0] = 0;
		fake_run(0, 7);
		set_start(&s);
		fake_run(0, n);
		set_stop(&s);
		fake_run(0, 7);
		assert_int_equal(s.data[0], n);
	}
}

PMUV3_TEST(sample_of_running_pics)
{
	struct set s;

	boot(&shape_v3p5);
	set_one(&s, "inst_retired", 0, USER, 5);
	set_start(&s);
	for (unsigned i = 1; i <= 10; i++) {
		fake_run(0, 100);
		set_sample(&s);
		assert_int_equal(s.data[0], 5 + 100 * i);
		assert_int_equal(s.sample.cs_tick, 100 * i * FAKE_CPI);
	}
	set_stop(&s);
	assert_int_equal(s.data[0], 1005);
}

/* The counter wraps after 0xffffffff; the 64-bit count does not. */
PMUV3_TEST(narrow_counters_carry_into_64_bits)
{
	static const struct {
		uint64_t from, run, to;
		bool wraps;
	} cases[] = {
		{ 0xfffffff6, 9, 0xffffffff, false },
		{ 0xfffffff6, 10, 0x100000000, true },
		{ 0xfffffff6, 25, 0x10000000f, true },
		{ 0x12345678fffffff0, 0x20, 0x1234567900000010, true },
		{ 0xfffffffffffffff0, 0x10, 0, true },
		{ 0x500000000, 3, 0x500000003, false },
	};
	struct set s;

	boot(&shape_v3);
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		set_one(&s, "inst_retired", 4, USER, cases[i].from);
		set_start(&s);
		fake_run(0, cases[i].run);
		assert_int_equal(set_stop(&s), cases[i].wraps << 4);
		assert_int_equal(s.data[0], cases[i].to);
	}
}

/* With PMCR_EL0.LP a counter overflows at bit 63, and not at bit 31. */
PMUV3_TEST(wide_counters_wrap_at_64_bits)
{
	struct set s;

	boot(&shape_v3p5);
	set_one(&s, "inst_retired", 1, USER, 0xfffffffe);
	assert_int_equal(set_run(&s, 10), 0);
	assert_int_equal(s.data[0], 0x100000008);
	set_one(&s, "inst_retired", 1, USER, -3ULL);
	assert_int_equal(set_run(&s, 10), 2);
	assert_int_equal(s.data[0], 7);
}

/* A narrow counter always interrupts, so that its wrap is counted in time. */
PMUV3_TEST(narrow_and_notify_pics_interrupt)
{
	struct set s;

	boot(&shape_v3);
	set_init(&s, 0x3);
	assert_int_equal(set_add(&s, "inst_retired", 0, USER, 0), 0);
	assert_int_equal(set_add(&s, "inst_retired", 1, NOTIFY, 0), 0);
	set_start(&s);
	assert_int_equal(fake_pmu[0].pminten, 3);
	set_stop(&s);

	boot(&shape_v3p5);
	set_init(&s, 0x3);
	assert_int_equal(set_add(&s, "inst_retired", 0, USER, 0), 0);
	assert_int_equal(set_add(&s, "inst_retired", 1, NOTIFY, 0), 0);
	set_start(&s);
	assert_int_equal(fake_pmu[0].pminten, 2);
	set_stop(&s);

	/* The same PICs, but the other one interrupts. */
	set_init(&s, 0x3);
	assert_int_equal(set_add(&s, "inst_retired", 0, NOTIFY, 0), 0);
	assert_int_equal(set_add(&s, "inst_retired", 1, USER, 0), 0);
	set_start(&s);
	assert_int_equal(fake_pmu[0].pminten, 1);
	ops->allstop();
	assert_int_equal(fake_pmu[0].pminten, 0);
	set_start(&s);
	assert_int_equal(fake_pmu[0].pminten, 1);
	set_stop(&s);
}

PMUV3_TEST(overflow_is_acknowledged)
{
	struct set s;

	boot(&shape_v3p5);
	set_init(&s, 0x5);
	assert_int_equal(set_add(&s, "inst_retired", 0, NOTIFY, -5ULL), 0);
	assert_int_equal(set_add(&s, "inst_retired", 2, NOTIFY, -6ULL), 0);
	set_start(&s);
	fake_run(0, 4);
	assert_false(fake_pending());
	fake_run(0, 1);
	assert_true(fake_pending());
	assert_int_equal(set_stop(&s), 1);
	assert_false(fake_pending());
	assert_int_equal(fake_pmu[0].pmovs, 0);
	set_start(&s);
	fake_run(0, 1);
	assert_true(fake_pending());
	assert_int_equal(set_stop(&s), 4);
	assert_int_equal(ops->overflow_bitmap(), 0);
}

/* An overflow from before the start of a set is not the set's. */
PMUV3_TEST(stale_overflow_is_not_reported)
{
	struct set s;

	boot(&shape_v3p5);
	set_one(&s, "inst_retired", 3, NOTIFY, -1ULL);
	set_start(&s);
	fake_run(0, 2);
	ops->allstop();
	assert_int_equal(fake_pmu[0].pmovs, 8);
	s.data[0] = 0;
	set_start(&s);
	assert_false(fake_pending());
	fake_run(0, 2);
	assert_int_equal(set_stop(&s), 0);
}

PMUV3_TEST(reads_are_open_while_a_set_that_asks_runs)
{
	struct set s;
	uint64_t v;

	boot(&shape_v3p5);
	set_one(&s, "inst_retired", 2, USER, 40);
	assert_false(fake_el0_read(2, &v));
	set_start(&s);
	fake_run(0, 2);
	assert_true(fake_el0_read(2, &v));
	assert_int_equal(v, 42);
	set_stop(&s);
	assert_false(fake_el0_read(2, &v));
	s.set.ps_user_read = false;
	set_start(&s);
	assert_false(fake_el0_read(2, &v));
	set_stop(&s);
}

/* A set may read every PIC: what the set before left here is cleared. */
PMUV3_TEST(no_set_reads_what_others_counted)
{
	struct set first, second;
	uint64_t v;

	boot(&shape_v3p5);
	set_init(&first, 0x3c);
	for (unsigned i = 2; i < 6; i++)
		assert_int_equal(
		    set_add(&first, "inst_retired", i, USER, 1000), 0);
	set_one(&second, "inst_retired", 3, USER, 50);
	for (fake_self = 0; fake_self < FAKE_NCPU; fake_self++) {
		set_start(&first);
		fake_run(0, 10);
		set_stop(&first);
	}
	for (fake_self = 0; fake_self < FAKE_NCPU; fake_self++) {
		second.data[0] = 50;
		set_start(&second);
		for (unsigned n = 0; n < 6; n++) {
			assert_true(fake_el0_read(n, &v));
			assert_int_equal(v, n == 3 ? 50 : 0);
		}
		set_stop(&second);
	}
	fake_self = 0;
}

/* A set that stops on one CPU continues on another. */
PMUV3_TEST(counts_follow_the_set)
{
	struct set s;

	boot(&shape_v3);
	set_one(&s, "inst_retired", 0, USER, 0xfffffff0);
	for (unsigned i = 0; i < 8; i++) {
		fake_self = i % FAKE_NCPU;
		set_run(&s, 5);
	}
	fake_self = 0;
	assert_int_equal(s.data[0], 0xfffffff0ULL + 40);
}

static uint64_t
tick(void)
{
	pmu_isb();
	return pmu_read_pmccntr();
}

/* PMCCNTR_EL0 is the tick: it runs at every level, across starts and stops. */
PMUV3_TEST(tick_never_stops)
{
	struct set s;

	boot(&shape_v3);
	uint64_t before = tick();
	set_one(&s, "cpu_cycles", 5, USER, 0);
	fake_run(2, 1);
	set_start(&s);
	fake_run(0, 10);
	fake_run(1, 100);
	set_stop(&s);
	ops->allstop();
	fake_run(0, 1000);
	uint64_t after = tick();
	assert_int_equal(after - before, 1111 * FAKE_CPI);
	assert_int_equal(s.data[0], 10 * FAKE_CPI);
}

/* Barriers are part of every switch: as few as the rules allow. */
PMUV3_TEST(barriers_are_not_wasted)
{
	struct set s;
	unsigned isbs;

	boot(&shape_v3p5);
	set_one(&s, "inst_retired", 0, USER, 0);
	isbs = fake_pmu[0].isbs;
	set_start(&s);
	assert_int_equal(fake_pmu[0].isbs - isbs, 2);
	isbs = fake_pmu[0].isbs;
	ops->allstop();
	assert_int_equal(fake_pmu[0].isbs - isbs, 1);
}
