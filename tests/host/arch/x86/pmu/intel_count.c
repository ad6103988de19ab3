/* Intel's PICs count the same on every shape, whatever registers it has. */
#include "arch/x86/pmu/regs.h"
#include "tests/lib/host/x86/intel_shapes.h"

/* Program, run, sample, stop, continue: the counts are the same. */
static void
start_read_stop(const struct fake_cpu *shape)
{
	struct x86_set other;

	boot(shape);
	assert_int_equal(set_add(&set, 0, "PAPI_tot_ins", USER, "", 5), 0);
	assert_int_equal(set_add(&set, 1, "PAPI_tot_cyc", BOTH, "", 0), 0);
	set_start(&set);
	assert_true(cpu->reads_open);
	fake_run(100, true);
	fake_run(10, false);
	set_sample(&set); /* while it runs */
	assert_int_equal(set.data[0], 105);
	assert_int_equal(set.data[1], 220);
	fake_run(1, true);
	set_stop(&set);
	assert_false(cpu->reads_open);
	fake_run(1000, true);
	assert_int_equal(cpu->gp[0], 106);
	assert_int_equal(set.data[0], 106);
	assert_int_equal(set.data[1], 222);
	/* The owner of another set cannot read what this set counted. */
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

TEST(every_shape_counts)
{
	start_read_stop(&core_duo);
	start_read_stop(&core_2);
	start_read_stop(&nehalem);
	start_read_stop(&skylake);
	start_read_stop(&ice_lake);
	start_read_stop(&sixth);
}

/* CPC-PCBE-06: an overflow is reported once, also on version 1. */
static void
check_overflow(const struct fake_cpu *shape)
{
	boot(shape);
	assert_int_equal(
	    set_add(&set, 1, "PAPI_tot_ins", USER | NOTIFY, "", -10ULL), 0);
	assert_int_equal(set_add(&set, 0, "PAPI_tot_ins", USER, "", 0), 0);
	set_start(&set);
	fake_run(9, true);
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

TEST(overflow_is_reported_once)
{
	check_overflow(&core_duo);
	check_overflow(&core_2);
	check_overflow(&skylake);
	check_overflow(&ice_lake);
	boot(&skylake); /* a fixed PIC has its own bit */
	set_add(&set, 5, "PAPI_tot_cyc", BOTH | NOTIFY, "", -3ULL);
	set_start(&set);
	fake_run(2, true);
	assert_int_equal(cpu->status, 2ULL << 32);
	ops->allstop();
	assert_int_equal(ops->overflow_bitmap(), 1 << 5);
}

/* CPC-PCBE-01: with full-width writes any preset can be loaded. */
TEST(full_width)
{
	boot(&skylake);
	set_add(&set, 0, "PAPI_tot_ins", USER | NOTIFY, "", 0x5123456789abcdef);
	set_start(&set);
	assert_int_equal(cpu->gp[0], 0x456789abcdef);
	fake_run(1, true);
	set_stop(&set);
	assert_int_equal(set.data[0], 0x5123456789abcdf0);
}

/* If a write sets 32 bits only, the 64-bit count is right nevertheless. */
TEST(sign_extended)
{
	boot(&core_2);
	set_add(&set, 0, "PAPI_tot_ins", USER, "", -6ULL);
	set_add(&set, 1, "PAPI_tot_ins", USER, "", 0x5123456789abcdef);
	set_add(&set, 2, "PAPI_tot_ins", USER, "", 0x5123456789abcdef);
	set_start(&set);
	assert_int_equal(cpu->gp[0], 0xfffffffffa);
	assert_int_equal(cpu->gp[1], 0);
	/* a fixed PIC takes all 40 bits */
	assert_int_equal(cpu->fix[0], 0x6789abcdef);
	fake_run(7, true);
	set_stop(&set);
	assert_int_equal(set.data[0], 1);
	assert_int_equal(set.data[1], 0x5123456789abcdf6);
	assert_int_equal(set.data[2], 0x5123456789abcdf6);
}

/* With writes of 32 bits a far overflow takes stages, and is reported once. */
TEST(far_overflow_in_stages)
{
	const uint64_t preset = (1ULL << 40) - (5ULL << 30) - 17;
	uint64_t ran = 0;
	unsigned stages = 0;

	boot(&core_2);
	set_add(&set, 0, "PAPI_tot_ins", USER | NOTIFY, "", preset);
	for (;;) {
		set_start(&set);
		uint64_t step = (1ULL << 40) - cpu->gp[0] + 3; /* 3: skid */
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
	assert_int_equal(stages, 5); /* four of 2^30, then the rest */
}

/* Firmware may leave DEBUGCTL so that an overflow freezes all counters. */
TEST(no_overflow_freezes)
{
	struct fake_cpu c = skylake;

	c.debugctl = DEBUGCTL_FREEZE_COUNTERS;
	c.status = PERF_GLOBAL_STATUS_CTR_FRZ; /* from an earlier overflow */
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

/* Counts stand from the notify overflow on: the fake's last PIC overflows. */
TEST(an_overflow_freezes_the_set)
{
	boot(&nehalem); /* version 3 */
	assert_false(ops->pcbe_freezes);
	boot(&skylake);
	assert_true(ops->pcbe_freezes);
	set_add(&set, 0, "PAPI_tot_ins", USER, "", -5ULL);
	set_add(&set, 4, "PAPI_tot_ins", USER, "", 0); /* fixed */
	set_add(&set, 5, "PAPI_tot_cyc", USER | CPC_OVF_NOTIFY_EMT, "", -20ULL);
	set.set.ps_freeze = 1 << 5;
	for (unsigned i = 0; i < 2; i++) {
		set_start(&set);
		for (unsigned n = 0; n < 50; n++)
			fake_run(1, true);
		/* The first wraps, and does not interrupt. */
		assert_int_equal(cpu->pmis, i + 1);
		assert_int_equal(set_stop(&set), 1 << 5 | 1);
		assert_int_equal(set.data[0], 5);
		assert_int_equal(set.data[1], 10);
		assert_int_equal(set.data[2], 0);
		set.data[0] = -5ULL;
		set.data[1] = 0;
		set.data[2] = -20ULL;
	}
	set.set.ps_freeze = 0; /* as a profile does */
	set.set.ps_config = PCBE_CONFIG_NEW;
	set_start(&set);
	for (unsigned n = 0; n < 50; n++)
		fake_run(1, true);
	set_stop(&set);
	assert_int_equal(set.data[1], 50);
	assert_int_equal(cpu->debugctl, 0);
}

static void
check_keep(const struct fake_cpu *shape, unsigned pic)
{
	boot(shape);
	expect_keeps(ops, pic);
}

TEST(a_kept_pic_never_stops)
{
	check_keep(&core_duo, 1);
	check_keep(&core_2, 1);
	check_keep(&nehalem, 3);
	check_keep(&nehalem, 4); /* a fixed PIC */
	check_keep(&ice_lake, 7);
	check_keep(&ice_lake, 8);
}
