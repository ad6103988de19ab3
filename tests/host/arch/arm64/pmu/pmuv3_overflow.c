/*
 * The overflow interrupt of PMUv3.  The boot proof finds out how each kind of
 * machine interrupts.  Helper PICs work on a PMU that loses overflows as QEMU
 * 7.2 does.
 */
#include "tests/lib/host/arm64/pmuv3_set.h"
#include "tests/lib/host/named.h"

#include <string.h>

#define USER   CPC_COUNT_USER
#define NOTIFY (CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT)
#define BOTH   (CPC_CAP_OVERFLOW_INTERRUPT | CPC_CAP_OVERFLOW_PRECISE)

static const struct pcbe_ops *const ops = &pmuv3_pcbe_ops;

/* PMUv3p5 or PMUv3 with nevent PICs, as QEMU 7.2 emulates them. */
static struct fake_shape
lossy_shape(unsigned version, unsigned nevent)
{
	struct fake_shape shape = shape_v3p5;

	shape.version = version;
	shape.nevent = nevent;
	shape.loses = true;
	return shape;
}

PMUV3_TEST(proof_classifies_machines)
{
	static const struct {
		struct fake_shape shape; /* with PMUv3p5 and with PMUv3 */
		enum pmuv3_overflow how;
		const char *text;
	} cases[] = {
		{ { .nevent = 6 }, PMUV3_PLAIN,
		    "comes by itself, at the instruction" },
		{ { .nevent = 1 }, PMUV3_PLAIN,
		    "comes by itself, at the instruction" },
		{ { .nevent = 6, .late = 1 }, PMUV3_PLAIN,
		    "comes by itself, at most 10 instructions late" },
		{ { .nevent = 6, .late = 60 }, PMUV3_PLAIN,
		    "comes by itself, at most 60 instructions late" },
		{ { .nevent = 6, .late = 10000 }, PMUV3_NO_INTR,
		    "does not come" },
		{ { .nevent = 6, .deaf = true }, PMUV3_NO_INTR,
		    "does not come" },
		{ { .nevent = 6, .noisy = true }, PMUV3_NO_INTR,
		    "does not come" },
		{ { .nevent = 6, .loses = true }, PMUV3_PAIRED,
		    "comes by a helper PIC, at the instruction" },
		{ { .nevent = 31, .loses = true }, PMUV3_PAIRED,
		    "comes by a helper PIC, at the instruction" },
		{ { .nevent = 6, .loses = true, .late = 7 }, PMUV3_PAIRED,
		    "comes by a helper PIC, at most 10 instructions late" },
		/* There is no second PIC that could help. */
		{ { .nevent = 1, .loses = true }, PMUV3_NO_INTR,
		    "does not come" },
	};

	for (unsigned i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
		struct fake_shape shape = cases[i / 2].shape;
		bool narrow = i % 2 != 0;

		shape.version = narrow ? 1 : 6;
		shape.ceid[0] = CEID0_QEMU;
		assert_int_equal(boot_proved(&shape), cases[i / 2].how);
		assert_string_equal(
		    ops->pcbe_overflow_proof, cases[i / 2].text);
		assert_string_equal(
		    pmuv3_proof(), "inst_retired counts a loop exactly");
		assert_int_equal(ops->pcbe_caps,
		    pmuv3.pv_overflow != PMUV3_NO_INTR ? BOTH : 0);
		assert_int_equal(ops->pcbe_no_ovf_intr,
		    narrow && pmuv3.pv_overflow != PMUV3_PLAIN ? pmuv3.pv_pics
							       : 0);
		assert_int_equal(fake_pmu[0].pmovs, 0);
		assert_int_equal(fake_pmu[0].pminten, 0);
		fixture_down(state);
	}
}

/* An emulator without an instruction clock, or a PMU without inst_retired. */
PMUV3_TEST(proof_by_cycles)
{
	struct fake_shape shape = shape_v3p5;

	shape.ceid[0] = 1ULL << ARM_CPU_CYCLES;
	shape.late = 2000;
	assert_int_equal(boot_proved(&shape), PMUV3_PLAIN);
	assert_string_equal(ops->pcbe_overflow_proof,
	    "comes by itself, at most 6020 cycles late");
	assert_string_equal(
	    pmuv3_proof(), "cpu_cycles advances, this PMU has no inst_retired");
	assert_null(kcpc_prove(ops, 0, 0));
}

PMUV3_TEST(the_proof_of_a_pic_names_the_fault)
{
	struct fake_shape shape = shape_v3p5;
	struct set none;

	shape.stuck = 1 << 2;
	shape.talkative = 1 << 4;
	boot(&shape);
	assert_null(kcpc_prove(ops, 0, 0));
	assert_string_equal(
	    kcpc_prove(ops, 2, 0), "reads 0 after 4200 instructions");
	assert_string_equal(
	    kcpc_prove(ops, 4, 0), "counts 8000 for 4000 instructions");
	assert_null(kcpc_prove(ops, 5, 0));
	/* The proofs leave no count that the next set could read. */
	set_init(&none, 0);
	set_start(&none);
	set_stop(&none);
	for (unsigned n = 0; n < 6; n++)
		assert_int_equal(fake_pmu[0].pmevcntr[n], 0);
}

PMUV3_TEST(the_proof_finds_each_lie)
{
	struct fake_shape shape = shape_v3p5;

	shape.narrow = true;
	boot(&shape);
	assert_string_equal(kcpc_prove(ops, 0, 0),
	    "is not 64 bits wide: counts 2147483850, not 202, from 2^64 - "
	    "16777216");
	shape = shape_v3p5;
	shape.no_filter = true;
	boot(&shape);
	assert_string_equal(kcpc_prove(ops, 0, 0),
	    "counts 200 in the kernel with a filter for user privilege");
	shape = shape_v3p5;
	for (shape.forgets = 1; shape.forgets <= 8; shape.forgets++) {
		assert_int_equal(boot_proved(&shape), PMUV3_NO_INTR);
		assert_int_equal(ops->pcbe_caps, 0);
	}
}

/* Counts stand from the overflow on, however late its interrupt is. */
PMUV3_TEST(an_overflow_freezes_the_set)
{
	struct fake_shape shape = shape_v3p5;
	struct set s;

	assert_int_equal(boot_proved(&shape), PMUV3_PLAIN);
	assert_false(ops->pcbe_freezes);
	shape.version = PMUVER_V3P7;
	shape.late = 60;
	assert_int_equal(boot_proved(&shape), PMUV3_PLAIN);
	assert_true(ops->pcbe_freezes);
	set_one(&s, "inst_retired", 0, USER, -10ULL); /* the proof's PIC */
	set_run(&s, 50);
	assert_int_equal(s.data[0], 40);
	set_init(&s, 3);
	s.set.ps_freeze = 1;
	set_add(&s, "inst_retired", 0, NOTIFY, -10ULL);
	set_add(&s, "inst_retired", 1, USER, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(set_run(&s, 50), 1);
		assert_int_equal(s.data[0], 0);
		assert_int_equal(s.data[1], 10);
		s.data[0] = -10ULL;
		s.data[1] = 0;
	}
	s.set.ps_freeze = 0; /* as a profile does */
	s.set.ps_config = PCBE_CONFIG_NEW;
	assert_int_equal(set_run(&s, 50), 1);
	assert_int_equal(s.data[0], 40);
	assert_int_equal(s.data[1], 50);
	shape.never_freezes = true;
	boot_proved(&shape);
	assert_false(ops->pcbe_freezes);
	assert_non_null(strstr(
	    ops->pcbe_overflow_proof, "the PMU's freeze fails: 60 more"));
	shape.frozen_deaf = true;
	assert_int_equal(boot_proved(&shape), PMUV3_PLAIN);
	assert_true(ops->pcbe_no_freeze);
}

/* The fake behaves as it claims: without a helper the interrupt is lost. */
PMUV3_TEST(without_helper_the_interrupt_is_lost)
{
	struct fake_shape shape = lossy_shape(6, 6);
	struct set s;

	boot(&shape);
	set_one(&s, "inst_retired", 0, NOTIFY, -100ULL);
	set_start(&s);
	fake_run(0, 1000);
	assert_false(fake_pending());
	assert_int_equal(set_stop(&s), 1); /* it is noticed too late */
}

/* One write of PMCNTENSET_EL0 starts both; PMSELR_EL0 stays the program's. */
PMUV3_TEST(helper_by_hand)
{
	struct fake_shape shape = lossy_shape(6, 6);
	const struct fake_pmu *p = &fake_pmu[0];
	struct set s;
	unsigned starts;

	boot_proved(&shape);
	set_one(&s, "inst_retired", 0, NOTIFY, 0xffffffffffffff00);
	assert_int_equal(s.set.ps_helpers, 2);
	starts = p->starts;
	fake_pmu[0].pmselr = 4;
	set_start(&s);
	assert_int_equal(p->pmselr, 4);
	assert_int_equal(p->starts - starts, 1);
	assert_int_equal(p->pmcnten, 0x80000003);
	assert_int_equal(p->pmevtyper[0], 0x80000008);
	assert_int_equal(p->pmevtyper[1], 0x80000008);
	assert_int_equal(p->pmevcntr[0], 0xffffffffffffff00);
	assert_int_equal(p->pmevcntr[1], 0xfffffffffffffeff);
	assert_int_equal(p->pminten, 1);
	set_stop(&s);

	shape = lossy_shape(1, 6);
	boot_proved(&shape);
	set_one(&s, "inst_retired", 5, NOTIFY, 0x7700000000);
	set_start(&s);
	assert_int_equal(p->pmevcntr[5], 0);
	assert_int_equal(p->pmevcntr[0], 0xffffffff);
	set_stop(&s);
}

/* The interrupt comes after the instruction that overflows, on every PIC. */
PMUV3_TEST(helper_interrupts_at_the_instruction)
{
	static const unsigned versions[] = { 1, 4, 6 };

	for (unsigned i = 0; i < 3 * 6 * 1000; i++) {
		struct fake_shape shape = lossy_shape(versions[i / 6000], 6);
		unsigned pic = i / 1000 % 6;
		uint64_t period = 1 + i % 1000;
		struct set s;

		if (period > 100 && period % 97 != 0)
			continue;
		boot_proved(&shape);
		set_one(&s, "inst_retired", pic, NOTIFY, -period);
		set_start(&s);
		fake_run(0, period - 1);
		assert_false(fake_pending());
		fake_run(0, 1);
		assert_true(fake_pending());
		assert_int_equal(set_stop(&s), 1U << pic);
		assert_int_equal(s.data[0], 0);
		fixture_down(state);
	}
}

/* The helper overflows one count later: acknowledged, and of no set. */
PMUV3_TEST(helper_overflow_is_not_reported)
{
	struct fake_shape shape = lossy_shape(6, 6);
	struct set s, other;

	boot_proved(&shape);
	set_one(&s, "inst_retired", 2, NOTIFY, -10ULL);
	assert_int_equal(set_run(&s, 15), 4);
	assert_int_equal(s.data[0], 5);
	assert_int_equal(fake_pmu[0].pmovs, 0);
	assert_false(fake_pending());

	/* Only the helper overflows, because its request starts at 0. */
	s.data[0] = 0;
	set_start(&s);
	fake_run(0, 3);
	assert_false(fake_pending());
	assert_int_equal(set_stop(&s), 0);
	assert_int_equal(s.data[0], 3);
	assert_int_equal(fake_pmu[0].pmovs, 0);

	/* When another set counts on the helper's PIC, it is reported. */
	set_one(&other, "inst_retired", 0, USER, -1ULL);
	set_start(&other);
	fake_run(0, 2);
	assert_int_equal(set_stop(&other), 1);
}

/* After each overflow the request starts again, with the same period. */
PMUV3_TEST(periods_follow_each_other)
{
	struct fake_shape shape = lossy_shape(1, 2);
	struct set s;

	boot_proved(&shape);
	set_one(&s, "inst_retired", 1, NOTIFY, 0);
	for (unsigned i = 0; i < 100; i++) {
		s.data[0] = -1000ULL;
		set_start(&s);
		fake_run(0, 999);
		assert_false(fake_pending());
		fake_run(0, 1);
		assert_true(fake_pending());
		fake_run(1, 23); /* the way to the handler */
		assert_int_equal(set_stop(&s), 2);
		assert_int_equal(s.data[0], 0);
	}
}

/* Requests without notification run in the same set, and take no helper. */
PMUV3_TEST(several_requests_in_a_set)
{
	struct fake_shape shape = lossy_shape(6, 6);
	struct set s;

	boot_proved(&shape);
	set_init(&s, 0x15);
	assert_int_equal(set_add(&s, "inst_retired", 0, NOTIFY, -50ULL), 0);
	assert_int_equal(set_add(&s, "inst_retired", 2, USER, -5ULL), 0);
	assert_int_equal(s.set.ps_helpers, 0x2);
	assert_int_equal(set_add(&s, "inst_retired", 4, NOTIFY, -80ULL), 0);
	assert_int_equal(s.set.ps_helpers, 0xa);
	set_start(&s);
	assert_int_equal(fake_pmu[0].pminten, 0x11);
	fake_run(0, 49);
	assert_false(fake_pending());
	fake_run(0, 1);
	assert_true(fake_pending());
	assert_int_equal(set_stop(&s), 0x5);
	set_start(&s);
	fake_run(0, 29);
	assert_false(fake_pending());
	fake_run(0, 1);
	assert_true(fake_pending());
	assert_int_equal(set_stop(&s), 0x10);
	assert_int_equal(s.data[0], 30);
	assert_int_equal(s.data[1], 75);
	assert_int_equal(s.data[2], 0);
}

/* Only a proved spare PIC becomes a helper; without one, only a subcode. */
PMUV3_TEST(helpers_are_found_or_refused)
{
	struct fake_shape shape = lossy_shape(6, 6);
	struct set s;

	boot_proved(&shape);
	set_init(&s, 0x7);
	s.set.ps_spare = 0x28; /* PIC 4 did not pass its proof */
	assert_int_equal(set_add(&s, "inst_retired", 0, NOTIFY, 0), 0);
	assert_int_equal(set_add(&s, "inst_retired", 1, NOTIFY, 0), 0);
	assert_int_equal(s.set.ps_helpers, 0x28);
	assert_int_equal(
	    set_add(&s, "inst_retired", 2, NOTIFY, 0), CPC_RESOURCE_UNAVAIL);
	assert_string_equal(named_refusal.cf_why,
	    "overflow notification needs a second PIC as helper; none is free");
	assert_int_equal(s.set.ps_helpers, 0x28);
	assert_int_equal(set_add(&s, "inst_retired", 2, USER, 0), 0);
	assert_int_equal(s.set.ps_helpers, 0x28);
}

/* A request that is refused for another reason takes no helper. */
PMUV3_TEST(refusal_takes_no_helper)
{
	struct fake_shape shape = lossy_shape(1, 6);
	struct set s;

	boot_proved(&shape);
	set_init(&s, 0x1);
	assert_int_equal(set_add(&s, "0x400", 0, NOTIFY, 0), CPC_INVALID_EVENT);
	assert_int_equal(
	    set_add(&s, "0x8", 0, NOTIFY | CPC_COUNT_HV, 0), CPC_HV_NO_ACCESS);
	assert_int_equal(s.set.ps_helpers, 0);
}

/* kcpc may have the contents of the registers made again. */
PMUV3_TEST(contents_made_again_are_the_same)
{
	struct fake_shape shape = lossy_shape(6, 6);
	struct set s;

	boot_proved(&shape);
	set_init(&s, 0x3);
	assert_int_equal(set_add(&s, "inst_retired", 0, USER, 0), 0);
	assert_int_equal(set_add(&s, "inst_retired", 1, NOTIFY, -7ULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		set_start(&s);
		assert_int_equal(fake_pmu[0].pmcnten, PMCNTEN_CYCLES | 0x7);
		assert_int_equal(fake_pmu[0].pminten, 0x2);
		assert_int_equal(set_stop(&s), 0);
		s.set.ps_config = PCBE_CONFIG_NEW;
	}
}

PMUV3_TEST(no_helper_without_need)
{
	struct set s;

	boot_proved(&shape_v3p5);
	set_init(&s, 0x3f);
	for (unsigned n = 0; n < 6; n++)
		assert_int_equal(
		    set_add(&s, "inst_retired", n, NOTIFY, -7ULL), 0);
	assert_int_equal(s.set.ps_helpers, 0);
	set_start(&s);
	fake_run(0, 6);
	assert_false(fake_pending());
	fake_run(0, 1);
	assert_true(fake_pending());
	assert_int_equal(set_stop(&s), 0x3f);
}

/* Without overflow interrupts no PIC has its interrupt enabled. */
PMUV3_TEST(mute_pics_enable_no_interrupt)
{
	struct fake_shape shape = lossy_shape(1, 1);
	struct set s;

	assert_int_equal(boot_proved(&shape), PMUV3_NO_INTR);
	set_one(&s, "inst_retired", 0, USER, 0xfffffff0);
	set_start(&s);
	assert_int_equal(fake_pmu[0].pminten, 0);
	fake_run(0, 0x20);
	set_stop(&s);
	assert_int_equal(s.data[0], 0x100000010);
}
