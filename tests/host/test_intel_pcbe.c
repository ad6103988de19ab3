/*
 * Intel's backend over registers that fault as the manual says: what each
 * shape of CPUID.0AH becomes, and what is written for each request, against
 * values worked out by hand.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring".
 */
#include "tests/host/support.h"

#include <string.h>

#include "arch/x86/pmu.h"
#include "tests/host/fake_msr.h"
#include "tests/host/x86_set.h"

#define USER   CPC_COUNT_USER
#define SYSTEM CPC_COUNT_SYSTEM
#define BOTH   (USER | SYSTEM)
#define NOTIFY CPC_OVF_NOTIFY_EMT
#define PDCM   (1U << 15)

#define ops (&intel_pcbe_ops)

/*
 * CPUID.0AH as such parts give it.  EAX: version, counters, width, length of
 * EBX; EDX: fixed counters, their width, bit 15 AnyThread deprecated.
 */
static const struct fake_cpu core_duo = {
	.leaf_a = { .a = 0x07280201 },
	.version = 1,
	.ngp = 2,
	.width = 40,
};
static const struct fake_cpu core_2 = {
	.leaf_a = { .a = 0x07280202, .d = 0x503 },
	.version = 2,
	.ngp = 2,
	.fixed = 0x7,
	.width = 40,
};
static const struct fake_cpu nehalem = {
	.leaf_a = { .a = 0x07300403, .b = 0x44, .d = 0x603 },
	.version = 3,
	.ngp = 4,
	.fixed = 0x7,
	.width = 48,
	.anythread = true,
};
static const struct fake_cpu skylake = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x07300404, .d = 0x603 },
	.caches = 3,
	.version = 4,
	.ngp = 4,
	.fixed = 0x7,
	.width = 48,
	.full_width = true,
	.anythread = true,
};
static const struct fake_cpu skylake_without_ht = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x07300804, .d = 0x603 },
	.version = 4,
	.ngp = 8,
	.fixed = 0x7,
	.width = 48,
	.full_width = true,
	.anythread = true,
};
static const struct fake_cpu ice_lake = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x08300805, .d = 0x8604 },
	.version = 5,
	.ngp = 8,
	.fixed = 0xf,
	.width = 48,
	.full_width = true,
};
/* ECX may name counters that EDX's number leaves out. */
static const struct fake_cpu gaps = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x08300805, .c = 0x9, .d = 0x8601 },
	.version = 5,
	.ngp = 8,
	.fixed = 0x9,
	.width = 48,
	.full_width = true,
};
static const struct fake_cpu sixth = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x0d300a06, .c = 0x77, .d = 0x8603 },
	.version = 6,
	.ngp = 10,
	.fixed = 0x77,
	.width = 48,
	.full_width = true,
};
static const struct fake_cpu efficient = {
	.leaf1 = { .c = PDCM },
	.leaf_a = { .a = 0x08300605, .b = 0x80, .c = 0x7, .d = 0x8603 },
	.version = 5,
	.ngp = 6,
	.fixed = 0x7,
	.width = 48,
	.full_width = true,
};

static struct fake_cpu *const cpu = &fake_cpu[0];
static struct x86_set set;

static void
boot(const struct fake_cpu *shape)
{
	fake_reset(shape);
	x86_features.family = 6;
	x86_features.model = 94;
	assert_int_equal(intel_pcbe_init(), PMU_FOUND);
	set_init(&set, ops);
}

static bool
pmi_pending(void)
{
	return cpu->pmis != 0;
}

static bool
never(void)
{
	return false;
}

/* The PICs of a shape, each proved, and silent until it is programmed. */
static void
expect_shape(
    const struct fake_cpu *shape, unsigned npic, unsigned width, const char *at)
{
	boot(shape);
	fake_run(1000, false);
	fake_run(1000, true);
	for (unsigned i = 0; i < shape->ngp; i++)
		assert_int_equal(cpu->gp[i], 0);
	assert_int_equal(cpu->status, 0);
	assert_false(cpu->reads_open);
	assert_int_equal(ops->ncounters(), npic);
	assert_string_equal(attr_names(ops), at);
	for (unsigned pic = 0; pic < npic; pic++) {
		assert_int_equal(ops->width(pic), width);
		assert_null(ops->prove(pic));
	}
	assert_true(x86_prove_overflow(ops, "PAPI_tot_ins", pmi_pending));
	assert_false(x86_prove_overflow(ops, "PAPI_tot_ins", never));
}

static void
shapes(void **state)
{
	const char *v1 = "edge,pc,inv,umask,cmask";
	const char *v3 = "edge,inv,umask,cmask,anythr";
	const char *v5 = "edge,inv,umask,cmask";

	(void)state;
	expect_shape(&core_duo, 2, 40, v1);
	expect_shape(&core_2, 2 + 3, 40, v1);
	expect_shape(&nehalem, 4 + 3, 48, v3);
	expect_shape(&skylake, 4 + 3, 48, v3);
	expect_shape(&skylake_without_ht, 8 + 3, 48, v3);
	expect_shape(&ice_lake, 8 + 4, 48, v5);
	expect_shape(&gaps, 8 + 2, 48, v5);
	expect_shape(&sixth, 10 + 3, 48, v5); /* those a loop can prove */
	boot(&skylake);
	assert_string_equal(
	    ops->impl_name(), "Intel Arch PerfMon v4 on Family 6 Model 94");
}

static void
read_index_is_what_rdpmc_takes(void **state)
{
	(void)state;
	boot(&gaps);
	assert_int_equal(ops->read_index(0), 0);
	assert_int_equal(ops->read_index(7), 7);
	assert_int_equal(ops->read_index(8), 0x40000000);
	assert_int_equal(ops->read_index(9), 0x40000003);
}

/* Names by what EBX says exists, and by fixed PIC. */
static void
events(void **state)
{
	(void)state;
	boot(&nehalem); /* without reference cycles and branch misses */
	assert_string_equal(names_on(ops, 0),
	    "cpu_clk_unhalted.thread_p,inst_retired.any_p,"
	    "longest_lat_cache.reference,longest_lat_cache.miss,"
	    "br_inst_retired.all_branches,"
	    "PAPI_tot_cyc,PAPI_tot_ins,PAPI_br_ins");
	assert_string_equal(names_on(ops, 4), "instr_retired.any,PAPI_tot_ins");
	assert_string_equal(names_on(ops, 5),
	    "cpu_clk_unhalted.thread,cpu_clk_unhalted.core,PAPI_tot_cyc");
	assert_string_equal(names_on(ops, 6), "cpu_clk_unhalted.ref");
	assert_int_equal(covers(ops, "PAPI_tot_ins"), 0x1f);
	assert_int_equal(covers(ops, "inst_retired.any_p"), 0x0f);
	assert_int_equal(covers(ops, "PAPI_br_msp"), 0);
	assert_int_equal(covers(ops, "PAPI_l3_tcm"), 0); /* which level? */
	assert_int_equal(covers(ops, "0xc0"), 0x0f);
	assert_int_equal(covers(ops, "inst_retired"), 0);
	boot(&skylake);
	assert_int_equal(covers(ops, "PAPI_l3_tcm"), 0x0f);
	assert_int_equal(covers(ops, "PAPI_l2_tcm"), 0);
	boot(&ice_lake);
	assert_int_equal(covers(ops, "topdown.slots_p"), 0xff);
	assert_int_equal(covers(ops, "topdown.slots"), 1 << 11);
}

/*
 * IA32_PERFEVTSELx: EN 22, INT 20, OS 17, USR 16, umask 15:8; edge 18, PC 19,
 * AnyThread 21, INV 23, cmask 31:24.
 */
static void
selects(void **state)
{
	(void)state;
	boot(&skylake);
	assert_int_equal(set_add(&set, 0, "PAPI_tot_ins", USER, "", 0), 0);
	assert_int_equal(set_add(&set, 1, "PAPI_l3_tcm", SYSTEM, "", 0), 0);
	assert_int_equal(set_add(&set, 2, "0xd1", BOTH,
			     "umask=0x41,cmask=0x10,inv=1,edge=1,anythr=1", 0),
	    0);
	assert_int_equal(set_add(&set, 3, "longest_lat_cache.reference",
			     CPC_COUNT_HV, "umask=0x02", 0),
	    0);
	ops->program(&set.set);
	assert_int_equal(cpu->sel[0], 0x005100c0);
	assert_int_equal(cpu->sel[1], 0x0052412e);
	assert_int_equal(cpu->sel[2], 0x10f741d1);
	assert_int_equal(cpu->sel[3], 0x0050022e); /* replaced, not joined */
	assert_int_equal(cpu->ctrl, 0x00f);
	ops->allstop();
	assert_int_equal(cpu->ctrl, 0);
	boot(&core_duo);
	assert_int_equal(set_add(&set, 1, "0x3c", USER, "pc=1", 0), 0);
	ops->program(&set.set);
	assert_int_equal(cpu->sel[0], 0);
	assert_int_equal(cpu->sel[1], 0x0059003c);
	ops->allstop();
	assert_int_equal(cpu->sel[1], 0);
}

/* IA32_FIXED_CTR_CTRL: a nibble each of OS, USR, AnyThread, PMI. */
static void
fixed_control(void **state)
{
	(void)state;
	boot(&skylake);
	assert_int_equal(set_add(&set, 4, "PAPI_tot_ins", USER, "", 0), 0);
	assert_int_equal(
	    set_add(&set, 5, "cpu_clk_unhalted.core", BOTH, "anythr=1", 0), 0);
	assert_int_equal(
	    set_add(&set, 6, "cpu_clk_unhalted.ref", SYSTEM, "", 0), 0);
	ops->program(&set.set);
	assert_int_equal(cpu->fixed_ctrl, 0x9fa);
	assert_int_equal(cpu->ctrl, 7ULL << 32);
	fake_run(100, true);
	fake_run(10, false);
	set_stop(&set);
	assert_int_equal(set.data[0], 100);
	assert_int_equal(set.data[1], 110 * FAKE_CPI);
	assert_int_equal(set.data[2], 10);
	boot(&gaps); /* PIC 9 is fixed counter 3 */
	assert_int_equal(set_add(&set, 9, "topdown.slots", USER, "", 0), 0);
	ops->program(&set.set);
	assert_int_equal(cpu->fixed_ctrl, 0xa000);
	assert_int_equal(cpu->ctrl, 1ULL << 35);
	ops->allstop();
}

/* CPC-PCBE-04, CPC-PCBE-05, CPC-EVT-02 */
static void
refusals(void **state)
{
	const char *ins = "inst_retired.any_p";

	(void)state;
	boot(&skylake);
	assert_int_equal(set_add(&set, 0, ins, USER, "umask=0x100", 0),
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
	assert_int_equal(set_add(&set, 0, ins, USER, "cmask=0x100", 0),
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
	assert_int_equal(
	    set_add(&set, 4, "instr_retired.any", USER, "edge=0", 0),
	    CPC_INVALID_ATTRIBUTE);
	assert_int_equal(
	    set_add(&set, 0, "0x100", USER, "", 0), CPC_INVALID_EVENT);
	assert_int_equal(
	    set_add(&set, 4, "0x2e", USER, "", 0), CPC_INVALID_EVENT);
	assert_int_equal(set_add(&set, 0, "instr_retired.any", USER, "", 0),
	    CPC_INVALID_EVENT);
	assert_int_equal(
	    set_add(&set, 5, "PAPI_tot_ins", USER, "", 0), CPC_INVALID_EVENT);
	set.set.ps_privileged = false;
	assert_int_equal(set_add(&set, 0, ins, USER, "anythr=0", 0),
	    CPC_ATTR_REQUIRES_PRIVILEGE);
	assert_int_equal(
	    set_add(&set, 4, "instr_retired.any", USER, "anythr=0", 0),
	    CPC_ATTR_REQUIRES_PRIVILEGE);
	assert_int_equal(set.set.ps_n, 0);
}

/* Program, run, sample, stop, go on: on every shape the same counts. */
static void
walk(const struct fake_cpu *shape)
{
	struct x86_set other;

	boot(shape);
	assert_int_equal(set_add(&set, 0, "PAPI_tot_ins", USER, "", 5), 0);
	assert_int_equal(set_add(&set, 1, "PAPI_tot_cyc", BOTH, "", 0), 0);
	ops->program(&set.set);
	assert_true(cpu->reads_open);
	fake_run(100, true);
	fake_run(10, false);
	ops->sample(&set.set); /* running */
	assert_int_equal(set.data[0], 105);
	assert_int_equal(set.data[1], 220);
	fake_run(1, true);
	set_stop(&set);
	assert_false(cpu->reads_open);
	fake_run(1000, true);
	ops->sample(&set.set);
	assert_int_equal(set.data[0], 106);
	assert_int_equal(set.data[1], 222);
	/* Another set's owner does not read what this one counted. */
	set_init(&other, ops);
	assert_int_equal(set_add(&other, 1, "PAPI_tot_ins", USER, "", 0), 0);
	ops->program(&other.set);
	assert_int_equal(cpu->gp[0], 0);
	fake_run(7, true);
	set_stop(&other);
	set_stop(&other);
	assert_int_equal(other.data[0], 7);
	ops->program(&set.set);
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
	ops->program(&set.set);
	fake_run(9, true);
	assert_int_equal(ops->overflow_bitmap(), 0);
	assert_int_equal(cpu->pmis, 0);
	fake_run(3, true);
	assert_int_equal(cpu->pmis, 1);
	ops->allstop();
	assert_int_equal(ops->overflow_bitmap(), 1 << 1);
	assert_int_equal(ops->overflow_bitmap(), 0);
	assert_int_equal(cpu->status, 0);
	ops->sample(&set.set);
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
	ops->program(&set.set);
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
	ops->program(&set.set);
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
	ops->program(&set.set);
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

		ops->program(&set.set);
		step = (1ULL << 40) - cpu->gp[0] + 3; /* 3: skid */
		fake_run(step, true);
		ran += step;
		ops->allstop();
		assert_int_equal(cpu->pmis, ++stages);
		if (ops->overflow_bitmap() != 0)
			break;
		ops->sample(&set.set);
		assert_true(set.data[0] < 1ULL << 40);
		assert_int_equal(set.data[0], preset + ran);
	}
	ops->sample(&set.set);
	assert_int_equal(set.data[0], (1ULL << 40) + 3);
	assert_int_equal(stages, 5); /* four of 2^30, the rest at once */
}

/* Who says what he has not. */
static void
liars(void **state)
{
	struct fake_cpu c = { .kind = FAKE_INTEL };

	(void)state;
	fake_reset(&c);
	assert_int_equal(intel_pcbe_init(), PMU_NONE);
	assert_int_equal(cpu->touched, 0);
	c = skylake;
	c.kind = FAKE_SWALLOWS;
	fake_reset(&c);
	assert_int_equal(intel_pcbe_init(), PMU_MUTE);
	c = skylake;
	c.ngp = 2; /* of four */
	boot(&c);
	assert_int_equal(ops->ncounters(), 2 + 3);
	c = skylake;
	c.fixed = 0x3; /* of three */
	boot(&c);
	assert_int_equal(ops->ncounters(), 4 + 2);
	c = skylake;
	c.version = 1; /* no global registers */
	boot(&c);
	assert_int_equal(ops->ncounters(), 4);
	assert_null(ops->prove(3));
	c = skylake;
	c.stuck_fixed = true;
	boot(&c);
	assert_null(ops->prove(0));
	assert_string_equal(ops->prove(4), "reads 0 after 6000 instructions");
	c = skylake;
	c.leaf_a.a = 0x07000404; /* counters of no width */
	fake_reset(&c);
	assert_int_equal(intel_pcbe_init(), PMU_MUTE);
}

/* Of two kinds of CPU, what both have. */
static void
hybrid(void **state)
{
	(void)state;
	boot(&ice_lake);
	fake_cpu[1] = efficient;
	fake_self = 1;
	assert_int_equal(intel_pcbe_init(), PMU_FOUND);
	fake_self = 0;
	assert_int_equal(ops->ncounters(), 6 + 3);
	assert_int_equal(ops->read_index(6), 0x40000000);
	assert_int_equal(covers(ops, "topdown.slots_p"), 0);
	assert_int_equal(covers(ops, "0xc0"), 0x3f);
	set_add(&set, 5, "PAPI_tot_ins", USER, "", 0);
	set_add(&set, 6, "PAPI_tot_ins", USER, "", 0);
	for (fake_self = 0; fake_self < 2; fake_self++) {
		ops->program(&set.set);
		fake_run(10, true);
		set_stop(&set);
	}
	assert_int_equal(set.data[0], 20);
	assert_int_equal(set.data[1], 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),
		cmocka_unit_test(read_index_is_what_rdpmc_takes),
		cmocka_unit_test(events),
		cmocka_unit_test(selects),
		cmocka_unit_test(fixed_control),
		cmocka_unit_test(refusals),
		cmocka_unit_test(walk_every_shape),
		cmocka_unit_test(overflow_is_told_once),
		cmocka_unit_test(full_width),
		cmocka_unit_test(sign_extended),
		cmocka_unit_test(strides),
		cmocka_unit_test(liars),
		cmocka_unit_test(hybrid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
