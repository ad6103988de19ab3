/*
 * Intel's PICs started, stopped, read and overflowed, on every shape: counts
 * come out the same, whichever registers there are.
 */
#include "arch/x86/pmu/regs.h"
#include "tests/lib/host/intel_shapes.h"

/* Program, run, sample, stop, go on: on every shape the same counts. */
static void
walk(const struct fake_cpu *shape)
{
	struct x86_set other;

	boot(shape);
	assert_int_equal(set_add(&set, 0, "PAPI_tot_ins", USER, "", 5), 0);
	assert_int_equal(set_add(&set, 1, "PAPI_tot_cyc", BOTH, "", 0), 0);
	set_start(&set);
	assert_true(cpu->reads_open);
	fake_run(100, true);
	fake_run(10, false);
	set_sample(&set); /* running */
	assert_int_equal(set.data[0], 105);
	assert_int_equal(set.data[1], 220);
	fake_run(1, true);
	set_stop(&set);
	assert_false(cpu->reads_open);
	fake_run(1000, true);
	assert_int_equal(cpu->gp[0], 106);
	assert_int_equal(set.data[0], 106);
	assert_int_equal(set.data[1], 222);
	/* Another set's owner does not read what this one counted. */
	set_init(&other, ops);
	assert_int_equal(set_add(&other, 1, "PAPI_tot_ins", USER, "", 0), 0);
	set_start(&other);
	assert_int_equal(cpu->gp[0], 0);
	fake_run(7, true);
	set_stop(&other);
	assert_int_equal(other.data[0], 7);
	set_start(&set);
	fake_run(4, true);
	set_stop(&set);
	assert_int_equal(set.data[0], 110);
	assert_int_equal(set.data[1], 230);
	assert_int_equal(cpu->pmis, 0);
}

static void
walk_every_shape(void **state)
{
	(void)state;
	walk(&core_duo);
	walk(&core_2);
	walk(&nehalem);
	walk(&skylake);
	walk(&ice_lake);
	walk(&sixth);
}

/* CPC-PCBE-06: told once; by status, or on version 1 by what PICs hold. */
static void
overflow(const struct fake_cpu *shape)
{
	boot(shape);
	assert_int_equal(
	    set_add(&set, 1, "PAPI_tot_ins", USER | NOTIFY, "", -10ULL), 0);
	assert_int_equal(set_add(&set, 0, "PAPI_tot_ins", USER, "", 0), 0);
	set_start(&set);
	fake_run(9, true);
	assert_int_equal(ops->overflow_bitmap(), 0);
	assert_int_equal(cpu->pmis, 0);
	fake_run(3, true);
	assert_int_equal(cpu->pmis, 1);
	ops->allstop();
	assert_int_equal(ops->overflow_bitmap(), 1 << 1);
	assert_int_equal(ops->overflow_bitmap(), 0);
	assert_int_equal(cpu->status, 0);
	set_sample(&set);
	assert_int_equal(set.data[0], 2);
	assert_int_equal(set.data[1], 12);
}

static void
overflow_is_told_once(void **state)
{
	(void)state;
	overflow(&core_duo);
	overflow(&core_2);
	overflow(&skylake);
	overflow(&ice_lake);
	boot(&skylake); /* a fixed one has its own bit */
	set_add(&set, 5, "PAPI_tot_cyc", BOTH | NOTIFY, "", -3ULL);
	set_start(&set);
	fake_run(2, true);
	assert_int_equal(cpu->status, 2ULL << 32);
	assert_int_equal(ops->overflow_bitmap(), 1 << 5);
	ops->allstop();
}

/* CPC-PCBE-01: where writes have the width of the counter, any preset goes. */
static void
full_width(void **state)
{
	(void)state;
	boot(&skylake);
	set_add(&set, 0, "PAPI_tot_ins", USER | NOTIFY, "", 0x5123456789abcdef);
	set_start(&set);
	assert_int_equal(cpu->gp[0], 0x456789abcdef);
	fake_run(1, true);
	set_stop(&set);
	assert_int_equal(set.data[0], 0x5123456789abcdf0);
}

/* Where they have 32 bits the count is right all the same. */
static void
sign_extended(void **state)
{
	(void)state;
	boot(&core_2);
	set_add(&set, 0, "PAPI_tot_ins", USER, "", -6ULL);
	set_add(&set, 1, "PAPI_tot_ins", USER, "", 0x5123456789abcdef);
	set_add(&set, 2, "PAPI_tot_ins", USER, "", 0x5123456789abcdef);
	set_start(&set);
	assert_int_equal(cpu->gp[0], 0xfffffffffa);
	assert_int_equal(cpu->gp[1], 0);
	assert_int_equal(cpu->fix[0], 0x6789abcdef); /* takes all 40 */
	fake_run(7, true);
	set_stop(&set);
	assert_int_equal(set.data[0], 1);
	assert_int_equal(set.data[1], 0x5123456789abcdf6);
	assert_int_equal(set.data[2], 0x5123456789abcdf6);
}

/*
 * And one whose overflow is waited for comes to it by stages, none of which
 * is taken for it.
 */
static void
strides(void **state)
{
	const uint64_t preset = (1ULL << 40) - (5ULL << 30) - 17;
	uint64_t ran = 0;
	unsigned stages = 0;

	(void)state;
	boot(&core_2);
	set_add(&set, 0, "PAPI_tot_ins", USER | NOTIFY, "", preset);
	for (;;) {
		uint64_t step;

		set_start(&set);
		step = (1ULL << 40) - cpu->gp[0] + 3; /* 3: skid */
		fake_run(step, true);
		ran += step;
		ops->allstop();
		assert_int_equal(cpu->pmis, ++stages);
		if (ops->overflow_bitmap() != 0)
			break;
		set_sample(&set);
		assert_true(set.data[0] < 1ULL << 40);
		assert_int_equal(set.data[0], preset + ran);
	}
	set_sample(&set);
	assert_int_equal(set.data[0], (1ULL << 40) + 3);
	assert_int_equal(stages, 5); /* four of 2^30, the rest at once */
}

/* Firmware may have left it that an overflow freezes all counters. */
static void
no_overflow_freezes(void **state)
{
	struct fake_cpu c = skylake;

	(void)state;
	c.debugctl = DEBUGCTL_FREEZE_COUNTERS;
	c.status = PERF_GLOBAL_STATUS_CTR_FRZ; /* from such a one */
	boot(&c);
	set_add(&set, 0, "PAPI_tot_ins", USER | CPC_OVF_NOTIFY_EMT, "", -10ULL);
	set_add(&set, 1, "PAPI_tot_ins", USER, "", 0);
	set_start(&set);
	fake_run(12, true);
	assert_int_equal(cpu->pmis, 1);
	set_stop(&set);
	set_start(&set);
	fake_run(5, true);
	set_stop(&set);
	assert_int_equal(set.data[0], 7);
	assert_int_equal(set.data[1], 17);
}

static void
keep(const struct fake_cpu *shape, unsigned pic)
{
	boot(shape);
	expect_keeps(ops, pic);
}

static void
a_kept_pic_runs_for_good(void **state)
{
	(void)state;
	keep(&core_duo, 1);
	keep(&core_2, 1);
	keep(&nehalem, 3);
	keep(&nehalem, 4); /* fixed */
	keep(&ice_lake, 7);
	keep(&ice_lake, 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_every_shape),
		cmocka_unit_test(overflow_is_told_once),
		cmocka_unit_test(full_width),
		cmocka_unit_test(sign_extended),
		cmocka_unit_test(strides),
		cmocka_unit_test(no_overflow_freezes),
		cmocka_unit_test(a_kept_pic_runs_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
