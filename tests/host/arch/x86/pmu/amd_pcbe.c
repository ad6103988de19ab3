/*
 * The backend for AMD on registers that fault as the manual says: K7's four
 * counters, six counters, PerfMonV2.  The registers that it writes for each
 * request are compared with values worked out by hand.  AMD APM vol. 2
 * (24593), "Performance Monitoring Counters".
 */
#include "tests/lib/host/support.h"

#include "arch/x86/pmu/pic.h"
#include "arch/x86/pmu/pmu.h"
#include "arch/x86/pmu/regs.h"
#include "kern/cpc/kcpc_impl.h"
#include "tests/lib/host/named.h"
#include "tests/lib/host/x86/fake_msr.h"
#include "tests/lib/host/x86/x86_set.h"

#define USER   CPC_COUNT_USER
#define SYSTEM CPC_COUNT_SYSTEM
#define BOTH   (USER | SYSTEM)
#define NOTIFY CPC_OVF_NOTIFY_EMT

#define PERFCTR_CORE (1U << 23) /* CPUID.80000001H:ECX */

#define ops (&amd_pcbe_ops)

static const struct fake_cpu k8 = {
	.kind = FAKE_AMD,
	.ngp = 4,
	.width = 48,
	.short_event = true,
};
static const struct fake_cpu bulldozer = {
	.kind = FAKE_AMD,
	.leaf_80000001 = { .c = PERFCTR_CORE },
	.ngp = 6,
	.width = 48,
	.core = true,
};
static const struct fake_cpu zen_4 = {
	.kind = FAKE_AMD,
	.leaf_80000001 = { .c = PERFCTR_CORE },
	.leaf_80000022 = { .a = 1, .b = 6 },
	.version = 2,
	.ngp = 6,
	.width = 48,
	.core = true,
};

static struct fake_cpu *const cpu = &fake_cpu[0];
static struct x86_set set;

static void
boot(const struct fake_cpu *shape, unsigned family)
{
	fake_reset(shape);
	x86_features.family = family;
	x86_models_read();
	assert_int_equal(amd_pcbe_init(), PMU_FOUND);
	set_init(&set, ops);
}

static void
expect_shape(const struct fake_cpu *shape, unsigned family, unsigned npic,
    const char *name)
{
	boot(shape, family);
	fake_run(1000, false);
	for (unsigned i = 0; i < npic; i++)
		assert_int_equal(cpu->gp[i], 0);
	assert_false(cpu->reads_open);
	assert_int_equal(ops->ncounters(), npic);
	assert_string_equal(ops->impl_name(), name);
	assert_string_equal(attr_names(ops), "edge,pc,inv,umask,cmask");
	for (unsigned pic = 0; pic < npic; pic++) {
		assert_int_equal(ops->width(pic), 48);
		assert_int_equal(ops->read_index(pic), pic);
		assert_null(kcpc_prove(ops, pic, 0));
	}
	expect_proves_overflow(ops);
}

TEST(the_proof_finds_each_lie)
{
	boot(&k8, 0x10);
	expect_finds_lies(ops);
}

TEST(shapes)
{
	expect_shape(&k8, 0x0f, 4, "AMD Opteron & Athlon64");
	expect_shape(&k8, 0x10, 4, "AMD Family 10h");
	expect_shape(&bulldozer, 0x15, 6, "AMD Family 15h");
	expect_shape(&bulldozer, 0x17, 6, "AMD Family 17h");
	expect_shape(&zen_4, 0x19, 6, "AMD Family 19h");
	expect_shape(&zen_4, 0x1a, 6, "AMD Family 1ah");
}

/* The number of counters, by CPUID and by trial. */
TEST(number_of_counters)
{
	struct fake_cpu few = zen_4, many = zen_4, hidden = zen_4, nb = k8,
			legacy = k8;

	few.leaf_80000022.b = 4;
	boot(&few, 0x19);
	assert_int_equal(ops->ncounters(), 4);
	assert_int_equal(x86_pics.xs_all, 0xf);
	/* the other bits belong to counters of another kind */
	many.leaf_80000022.b = 0x7f;
	many.ngp = 8;
	boot(&many, 0x19);
	assert_int_equal(ops->ncounters(), 6);
	/* A hypervisor that shows the CPUID bit but not the register. */
	hidden.leaf_80000022.b = 4;
	hidden.version = 0;
	boot(&hidden, 0x19);
	assert_int_equal(ops->ncounters(), 6);
	assert_int_equal(x86_pics.xs_ctrl, 0);
	/* Bits of other counters, and PerfMonV2 without PerfCtrExtCore. */
	nb.leaf_80000001.c = 1U << 24 | 1U << 22;
	nb.leaf_80000022.a = 1;
	nb.leaf_80000022.b = 6;
	boot(&nb, 0x10);
	assert_int_equal(ops->ncounters(), 4);
	assert_int_equal(x86_pics.xs_ctrl, 0);
	boot(&legacy, 6); /* K7 was the first */
	fake_reset(&legacy);
	x86_features.family = 5;
	assert_int_equal(amd_pcbe_init(), PMU_NONE);
}

/* CPU 1, of this shape, comes up after CPU 0. */
static enum pmu_found
join_cpu(const struct fake_cpu *shape)
{
	fake_self = 1;
	fake_cpu[1] = *shape;
	enum pmu_found found = amd_pcbe_init();
	fake_self = 0;
	return found;
}

/* The backend offers PICs that all CPUs have, and refuses unlike CPUs. */
TEST(unlike_cpus)
{
	struct fake_cpu few = bulldozer, many = bulldozer;

	few.ngp = 4;
	boot(&bulldozer, 0x15);
	assert_int_equal(join_cpu(&k8), PMU_MUTE);
	assert_int_equal(join_cpu(&zen_4), PMU_MUTE);
	assert_int_equal(ops->ncounters(), 6);
	assert_int_equal(join_cpu(&few), PMU_FOUND);
	assert_int_equal(ops->ncounters(), 4);
	boot(&few, 0x15);
	assert_int_equal(join_cpu(&many), PMU_FOUND);
	assert_int_equal(ops->ncounters(), 4);
}

/* If `pc`, bit 19, gets #GP (a guest of KVM), it is refused on all CPUs. */
TEST(reserved_pin_control)
{
	struct fake_cpu guest = zen_4, legacy = k8;

	guest.reserved_sel = legacy.reserved_sel = EVTSEL_PC;
	for (unsigned i = 0; i < 3; i++) {
		boot(i == 0 ? &guest : i == 1 ? &legacy : &zen_4, 0x19);
		if (i == 2)
			assert_int_equal(join_cpu(&guest), PMU_FOUND);
		assert_string_equal(attr_names(ops), "edge,inv,umask,cmask");
		assert_int_equal(
		    set_add(&set, 0, "0xc0", USER, "edge=1", 0), 0);
		assert_int_equal(cpu->sel[0], 0);
		set_start(&set);
		set_stop(&set);
	}
}

/* The PICs and flags of an event, in addition to its code. */
TEST(kinds_of_events)
{
	struct event_code guest = { .ec_select = 1ULL << 40 | 0xc0 },
			  plain = { .ec_select = 0x4100c0 };
	struct pcbe_cfg cfg = { .pc_pic = 1, .pc_flags = USER };
	struct cpc_event ev = { 0 };

	boot(&zen_4, 0x19);
	assert_int_equal(named_event(ops, "PAPI_tot_ins", &ev), 0x3f);
	assert_int_equal(ev.ce_flags, CPC_EVENT_GENERIC);
	assert_int_equal(named_event(ops, "ExRetInstr", &ev), 0x3f);
	assert_int_equal(ev.ce_flags, 0);
	assert_int_equal(named_event(ops, "0xc0", &ev), 0x3f);
	assert_int_equal(ev.ce_flags, CPC_EVENT_RAW);
	assert_int_equal(named_event(ops, "0x1000", &ev), 0x3f);
	assert_int_equal(ev.ce_pics, 0x3f);
	assert_int_equal(ev.ce_flags, CPC_EVENT_RAW);
	assert_int_equal(
	    ops->configure(&cfg, &ev, 0, NULL, &set.set, &named_refusal),
	    CPC_INVALID_EVENT);
	assert_string_equal(named_refusal.cf_why,
	    "an event's number is at most 0xfff; with a unit mask it is "
	    "written r1c2");

	ev = (struct cpc_event){ 0 };
	assert_int_equal(named_code(ops, &plain, &ev), 0x3f);
	/* the request sets the privileges */
	assert_int_equal(ev.ce_code, 0xc0);
	assert_int_equal(ev.ce_flags, 0);
	ev.ce_flags = CPC_EVENT_GENERIC;
	assert_int_equal(named_code(ops, &guest, &ev), 0x3f);
	assert_int_equal(ev.ce_flags, CPC_EVENT_GENERIC | CPC_EVENT_LACKING);
	assert_int_equal(
	    ops->configure(&cfg, &ev, 0, NULL, &set.set, &named_refusal),
	    CPC_RESOURCE_UNAVAIL);
	assert_string_equal(
	    named_refusal.cf_why, "guest and host bits need SVM, which is off");
	/* A code that no name has is refused without a reason text. */
	named_refusal.cf_why[0] = '\0';
	ev = (struct cpc_event){ .ce_code = ~0ULL };
	assert_int_equal(
	    ops->configure(&cfg, &ev, 0, NULL, &set.set, &named_refusal),
	    CPC_INVALID_EVENT);
	assert_string_equal(named_refusal.cf_why, "");
}

/* docs/x86.md, "Events an emulator models": listed without a unit mask. */
TEST(events_not_modelled)
{
	const uint32_t obeyed = 0xff800000 | 3U << 16 | 5U << 20 | 1U << 19;
	const struct cpuid_regs modelled[] = {
		{ 0xc0, 0xff, obeyed, 1 },
		{ 0x76, 0xff, obeyed, 1 },
		{ 0, 0, 0, 0 },
	};
	const struct cpc_model on_command_line[] = {
		{ 0xc0, 0xff, obeyed },
		{ 0x76, 0xff, obeyed },
	};
	struct fake_cpu c = zen_4;
	static const struct {
		const char *event, *attrs, *why;
	} refused[] = {
		{ "PAPI_br_msp", "",
		    "this emulator does not model event 0xc3" },
		{ "ExRetBrn", "", "this emulator does not model event 0xc2" },
		{ "0x29", "umask=7",
		    "this emulator does not model event 0x729" },
		{ "0x1c0", "",
		    "this emulator does not model event 0x1000000c0" },
		{ "0xc0", "umask=1",
		    "this emulator does not model bits 0x100 of the event "
		    "select with event 0xc0" },
		{ "0xc0", "edge=1",
		    "this emulator does not model bits 0x40000 of the event "
		    "select with event 0xc0" },
	};

	c.models = modelled;
	boot(&c, 0x19);
	assert_string_equal(names_on(ops, 0),
	    "ExRetInstr,LsNotHaltedCyc,PAPI_tot_cyc,PAPI_tot_ins");
	assert_true(lacks(ops, "PAPI_br_msp"));
	for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		named_refusal.cf_why[0] = '\0';
		assert_int_equal(set_add(&set, 0, refused[i].event, USER,
				     refused[i].attrs, 0),
		    CPC_RESOURCE_UNAVAIL);
		assert_string_equal(named_refusal.cf_why, refused[i].why);
	}
	assert_int_equal(set_add(&set, 0, "0xc0", USER, "cmask=1", 0), 0);
	assert_int_equal(set_add(&set, 1, "PAPI_tot_cyc", USER, "", 0), 0);
	boot(&zen_4, 0x19);
	assert_int_equal(set_add(&set, 0, "PAPI_br_msp", USER, "", 0), 0);
	assert_string_equal(x86_models_name(), "all");
	/* A hypervisor hides the leaves, but models= has the list. */
	pcbe_models = on_command_line;
	pcbe_nmodels = 2;
	boot(&zen_4, 0x19);
	pcbe_nmodels = 0;
	assert_string_equal(x86_models_name(), "listed");
	assert_true(lacks(ops, "PAPI_br_msp"));
	named_refusal.cf_why[0] = '\0';
	assert_int_equal(
	    set_add(&set, 0, "0xc2", USER, "", 0), CPC_RESOURCE_UNAVAIL);
	assert_string_equal(
	    named_refusal.cf_why, "this emulator does not model event 0xc2");
	assert_int_equal(set_add(&set, 0, "0xc0", USER, "cmask=1", 0), 0);
	assert_int_equal(set_add(&set, 1, "PAPI_tot_cyc", USER, "", 0), 0);
}

TEST(events)
{
	boot(&k8, 0x0f);
	assert_int_equal(covers(ops, "FR_retired_x86_instr_w_excp_intr"), 0xf);
	assert_int_equal(covers(ops, "ExRetInstr"), 0);
	boot(&zen_4, 0x19);
	assert_string_equal(names_on(ops, 5),
	    "ExRetBrn,ExRetBrnFar,ExRetBrnMisp,ExRetBrnTkn,ExRetBrnTknMisp,"
	    "ExRetInstr,ExRetNearRet,ExRetNearRetMispred,LsNotHaltedCyc,"
	    "PAPI_br_ins,PAPI_br_msp,PAPI_br_tkn,PAPI_tot_cyc,PAPI_tot_ins");
	assert_int_equal(covers(ops, "BU_cpu_clk_unhalted"), 0);
	assert_int_equal(covers(ops, "0x1c0"), 0x3f);
	/* Family 15h: some units report only to some of the counters. */
	boot(&bulldozer, 0x15);
	assert_int_equal(covers(ops, "PAPI_tot_ins"), 0x3f);
	assert_int_equal(covers(ops, "PAPI_tot_cyc"), 0x07);
	assert_int_equal(covers(ops, "0x1c0"), 0x38);
	assert_int_equal(covers(ops, "0x03"), 0x08);
	assert_int_equal(covers(ops, "0x02e"), 0x09);
	assert_int_equal(covers(ops, "0xe0"), 0);
	assert_string_equal(names_on(ops, 3),
	    "FR_retired_branches_mispred,FR_retired_branches_w_excp_intr,"
	    "FR_retired_far_ctl_transfer,FR_retired_near_returns,"
	    "FR_retired_near_returns_mispred,FR_retired_taken_branches,"
	    "FR_retired_taken_branches_mispred,FR_retired_uops,"
	    "FR_retired_x86_instr_w_excp_intr,"
	    "PAPI_br_ins,PAPI_br_msp,PAPI_br_tkn,PAPI_tot_ins");
}

/*
 * PERF_CTLx: event 35:32 and 7:0, unit mask 15:8, USR 16, OS 17, edge 18, PC
 * 19, INT 20, EN 22, INV 23, cmask 31:24.
 */
TEST(selects)
{
	boot(&zen_4, 0x19);
	assert_int_equal(set_add(&set, 0, "PAPI_tot_ins", USER, "", 0), 0);
	assert_int_equal(set_add(&set, 1, "LsNotHaltedCyc", SYSTEM, "", 0), 0);
	assert_int_equal(set_add(&set, 2, "0x1c7", BOTH,
			     "umask=0x41,cmask=0x10,inv=1,edge=1,pc=1", 0),
	    0);
	assert_int_equal(set_add(&set, 5, "0xfff", CPC_COUNT_HV, "", 0), 0);
	set_start(&set);
	assert_int_equal(cpu->sel[0], 0x005100c0);
	assert_int_equal(cpu->sel[1], 0x00520076);
	assert_int_equal(cpu->sel[2], 0x110df41c7);
	assert_int_equal(cpu->sel[5], 0xf005000ff);
	assert_int_equal(cpu->ctrl, 0x27);
	ops->allstop();
	assert_int_equal(cpu->ctrl, 0);
	/* Without a global control each select starts and stops its PIC. */
	boot(&bulldozer, 0x17);
	assert_int_equal(set_add(&set, 3, "ExRetBrn", USER, "", 0), 0);
	set_start(&set);
	assert_int_equal(cpu->sel[0], 0);
	assert_int_equal(cpu->sel[3], 0x005100c2);
	ops->allstop();
	assert_int_equal(cpu->sel[3], 0);
}

/* CPC-PCBE-03: the unit mask of the attribute is ORed with the event's. */
TEST(unit_masks_are_combined)
{
	struct cpc_event ev = { .ce_code = AMD_CODE(0x0c0, 0x02) };
	struct cpc_packattr umask = { .cpa_id = CPC_ATTR_UMASK,
		.cpa_value = 0x41 };
	struct pcbe_cfg cfg = { .pc_pic = 1, .pc_flags = USER };

	boot(&zen_4, 0x19);
	assert_string_equal(attr_names(ops), "edge,pc,inv,umask,cmask");
	assert_int_equal(
	    ops->configure(&cfg, &ev, 1, &umask, &set.set, &named_refusal), 0);
	assert_int_equal(cfg.pc_sel, 0x005143c0);
}

/* CPC-PCBE-05, CPC-EVT-02 */
TEST(refusals)
{
	boot(&zen_4, 0x19);
	assert_int_equal(set_add(&set, 0, "ExRetInstr", USER, "umask=0x100", 0),
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
	assert_int_equal(set_add(&set, 0, "ExRetInstr", USER, "cmask=256", 0),
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
	assert_int_equal(
	    set_add(&set, 0, "0x1000", USER, "", 0), CPC_INVALID_EVENT);
	boot(&k8, 0x0f); /* on this CPU bits 35:32 would fault */
	assert_int_equal(
	    set_add(&set, 0, "0x100", USER, "", 0), CPC_INVALID_EVENT);
	boot(&bulldozer, 0x15);
	assert_int_equal(
	    set_add(&set, 0, "0x1c0", USER, "", 0), CPC_INVALID_EVENT);
	assert_int_equal(set.set.ps_n, 0);
}

static void
start_read_stop(const struct fake_cpu *shape, unsigned family)
{
	struct x86_set other;

	boot(shape, family);
	assert_int_equal(set_add(&set, 2, "PAPI_tot_ins", USER, "", 5), 0);
	assert_int_equal(
	    set_add(&set, 1, "PAPI_tot_cyc", BOTH, "", 0x5123456789abcdef), 0);
	set_start(&set);
	assert_true(cpu->reads_open);
	assert_int_equal(cpu->gp[1], 0x456789abcdef);
	fake_run(100, true);
	fake_run(10, false);
	set_sample(&set); /* while it runs */
	assert_int_equal(set.data[0], 105);
	assert_int_equal(set.data[1], 0x5123456789abcdef + 220);
	set_stop(&set);
	assert_false(cpu->reads_open);
	fake_run(1000, true);
	assert_int_equal(cpu->gp[2], 105);
	set_init(&other, ops);
	assert_int_equal(set_add(&other, 0, "PAPI_tot_ins", USER, "", 0), 0);
	set_start(&other);
	assert_int_equal(cpu->gp[2], 0);
	fake_run(7, true);
	set_stop(&other);
	assert_int_equal(other.data[0], 7);
	set_start(&set);
	fake_run(4, true);
	set_stop(&set);
	assert_int_equal(set.data[0], 109);
	assert_int_equal(set.data[1], 0x5123456789abcdef + 228);
}

TEST(every_shape_counts)
{
	start_read_stop(&k8, 0x0f);
	start_read_stop(&bulldozer, 0x15);
	start_read_stop(&bulldozer, 0x17);
	start_read_stop(&zen_4, 0x19);
}

/* The status shows an overflow, or a counter that holds less than before. */
static void
check_overflow(const struct fake_cpu *shape, unsigned family)
{
	boot(shape, family);
	set_add(&set, 3, "PAPI_tot_ins", USER | NOTIFY, "", -10ULL);
	set_add(&set, 0, "PAPI_tot_ins", USER | NOTIFY, "", 1);
	set_start(&set);
	fake_run(9, true);
	assert_int_equal(cpu->pmis, 0);
	fake_run(3, true);
	assert_int_equal(cpu->pmis, 1);
	ops->allstop();
	assert_int_equal(ops->overflow_bitmap(), 1 << 3);
	assert_int_equal(ops->overflow_bitmap(), 0);
	assert_int_equal(cpu->status, 0);
	set_sample(&set);
	assert_int_equal(set.data[0], 2);
	assert_int_equal(set.data[1], 13);
}

TEST(overflow_is_reported_once)
{
	check_overflow(&k8, 0x0f);
	check_overflow(&bulldozer, 0x17);
	check_overflow(&zen_4, 0x19);
}

/* Firmware may leave DEBUGCTL so that an overflow freezes all counters. */
TEST(no_overflow_freezes)
{
	struct fake_cpu c = zen_4;

	c.debugctl = DEBUGCTL_FREEZE_COUNTERS;
	check_overflow(&c, 0x19);
	set_start(&set);
	fake_run(5, true);
	set_stop(&set);
	assert_int_equal(set.data[0], 7);
	assert_int_equal(set.data[1], 18);
}

/* The other bits of the register stay; an absent one is not accessed. */
TEST(lfence_is_serialising)
{
	struct fake_cpu c = bulldozer;

	c.de_cfg = 0x30;
	boot(&c, 0x15);
	assert_int_equal(cpu->de_cfg, 0x32);
	boot(&k8, 0x0f);
	assert_int_equal(cpu->de_cfg, 0);
}

/* RDPMC indexes from 6 on belong to other counters. */
TEST(six_counters_at_most)
{
	struct fake_cpu c = zen_4;

	c.leaf_80000022.b = 8;
	c.ngp = 8;
	boot(&c, 0x19);
	assert_int_equal(ops->ncounters(), 6);
}

/* CPUID has no bit for the four legacy counters: writes find them. */
TEST(wrong_cpuid)
{
	struct fake_cpu c = k8;

	c.kind = FAKE_SWALLOWS;
	fake_reset(&c);
	x86_features.family = 0x0f;
	assert_int_equal(amd_pcbe_init(), PMU_MUTE);
	c = zen_4;
	c.core = false; /* MSRs that fault */
	c.version = 0;
	fake_reset(&c);
	assert_int_equal(amd_pcbe_init(), PMU_MUTE);
	c = zen_4;
	c.version = 0; /* no global registers */
	boot(&c, 0x19);
	assert_int_equal(ops->ncounters(), 6);
	assert_null(kcpc_prove(ops, 5, 0));
	c = bulldozer;
	c.ngp = 4;
	boot(&c, 0x17);
	assert_int_equal(ops->ncounters(), 4);
	x86_features.family = 5;
	fake_reset(&k8);
	assert_int_equal(amd_pcbe_init(), PMU_NONE);
	assert_int_equal(cpu->touched, 0);
}

static void
check_keep(const struct fake_cpu *shape, unsigned family)
{
	boot(shape, family);
	expect_keeps(ops, 3);
}

TEST(a_kept_pic_never_stops)
{
	check_keep(&k8, 0x0f);
	check_keep(&bulldozer, 0x15);
	check_keep(&zen_4, 0x19);
}

/* A program may pass any value to the kernel. */
TEST(no_random_event_faults)
{
	boot(&k8, 0x0f);
	assert_in_range(set_invent(ops), 1000, 1000000);
	boot(&bulldozer, 0x15);
	assert_in_range(set_invent(ops), 1000, 1000000);
	boot(&zen_4, 0x19);
	assert_in_range(set_invent(ops), 1000, 1000000);
}
