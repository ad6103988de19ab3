/*
 * The backend for Intel on registers that fault as the manual says: the PICs
 * of each shape of CPUID.0AH.  The registers that it writes for each request
 * are compared with values worked out by hand.  Intel SDM vol. 3B,
 * "Architectural Performance Monitoring".
 */
#include "arch/x86/pmu/pic.h"
#include "tests/lib/host/named.h"
/* defines `ops` */
#include "tests/lib/host/x86/intel_shapes.h"

#include "arch/x86/pmu/pmu.h"
#include "arch/x86/topology.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/sched/cpuset.h"

/* Every PIC of the shape passes its proof; unprogrammed it counts nothing. */
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
		assert_null(kcpc_prove(ops, pic, 0));
	}
	expect_proves_overflow(ops);
}

TEST(the_proof_finds_each_lie)
{
	boot(&skylake);
	expect_finds_lies(ops);
}

TEST(shapes)
{
	const char *v1 = "edge,pc,inv,umask,cmask";
	const char *v3 = "edge,inv,umask,cmask,anythr";
	const char *v5 = "edge,inv,umask,cmask";

	expect_shape(&core_duo, 2, 40, v1);
	expect_shape(&core_2, 2 + 3, 40, v1);
	expect_shape(&nehalem, 4 + 3, 48, v3);
	expect_shape(&skylake, 4 + 3, 48, v3);
	expect_shape(&skylake_without_ht, 8 + 3, 48, v3);
	expect_shape(&ice_lake, 8 + 4, 48, v5);
	expect_shape(&gaps, 8 + 2, 48, v5);
	/* without those that no loop can prove */
	expect_shape(&sixth, 10 + 3, 48, v5);
	boot(&skylake);
	assert_string_equal(
	    ops->impl_name(), "Intel Arch PerfMon v4 on Family 6 Model 94");
}

TEST(read_index_is_for_rdpmc)
{
	boot(&gaps);
	assert_int_equal(ops->read_index(0), 0);
	assert_int_equal(ops->read_index(7), 7);
	assert_int_equal(ops->read_index(8), 0x40000000);
	assert_int_equal(ops->read_index(9), 0x40000003);
}

/* Names by the events that EBX lists, and by fixed PIC. */
TEST(events)
{
	boot(&nehalem); /* no reference cycles, no branch misses */
	assert_string_equal(names_on(ops, 0),
	    "PAPI_br_ins,PAPI_tot_cyc,PAPI_tot_ins,"
	    "br_inst_retired.all_branches,"
	    "cpu_clk_unhalted.thread_p,inst_retired.any_p,"
	    "longest_lat_cache.miss,longest_lat_cache.reference");
	assert_string_equal(names_on(ops, 4), "PAPI_tot_ins,instr_retired.any");
	assert_string_equal(names_on(ops, 5),
	    "PAPI_tot_cyc,cpu_clk_unhalted.core,cpu_clk_unhalted.thread");
	assert_string_equal(names_on(ops, 6), "cpu_clk_unhalted.ref");
	assert_int_equal(covers(ops, "PAPI_tot_ins"), 0x1f);
	assert_int_equal(covers(ops, "inst_retired.any_p"), 0x0f);
	assert_true(lacks(ops, "PAPI_br_msp"));
	/* the level of the last cache is unknown */
	assert_int_equal(covers(ops, "PAPI_l3_tcm"), 0);
	assert_int_equal(covers(ops, "0xc0"), 0x0f);
	assert_int_equal(covers(ops, "inst_retired"), 0);
	boot(&skylake);
	assert_int_equal(covers(ops, "PAPI_l3_tcm"), 0x0f);
	assert_int_equal(covers(ops, "PAPI_l2_tcm"), 0);
	boot(&ice_lake);
	assert_int_equal(covers(ops, "topdown.slots_p"), 0xff);
	assert_int_equal(covers(ops, "topdown.slots"), 1 << 11);
}

/* The request is refused with this reason. */
static void
expect_refused(const char *event, const char *attrs, const char *why)
{
	named_refusal.cf_why[0] = '\0';
	assert_int_equal(
	    set_add(&set, 0, event, USER, attrs, 0), CPC_RESOURCE_UNAVAIL);
	assert_string_equal(named_refusal.cf_why, why);
}

/*
 * CPUID.0AH:EBX lists absent events.  Their names, presets and numbers are
 * refused, with any counter mask.  The fixed counter of the event is
 * separate.
 */
TEST(absent_events)
{
	const char *misses = "CPUID.0AH:EBX[6] says that event 0xc5 is absent";
	const char *clocks = "CPUID.0AH:EBX[2] says that event 0x13c is absent";

	boot(&nehalem);
	expect_refused("PAPI_br_msp", "", misses);
	expect_refused("br_misp_retired.all_branches", "", misses);
	expect_refused("0xc5", "", misses);
	expect_refused("0xc5", "cmask=1,inv=1", misses);
	expect_refused("0x3c", "umask=1", clocks);
	assert_int_equal(set_add(&set, 0, "0xc5", USER, "umask=2", 0), 0);
	assert_int_equal(
	    set_add(&set, 6, "cpu_clk_unhalted.ref", USER, "", 0), 0);
	/* Bits beyond the length in EAX have no meaning. */
	boot(&skylake);
	assert_int_equal(set_add(&set, 0, "0xa4", USER, "umask=1", 0), 0);
}

/* Event, the bits that select it, the bits with an effect. */
#define LEVELS (3U << 16 | 1U << 19 | 1U << 20 | 1U << 22)
static const struct cpuid_regs modelled[] = {
	{ 0xc0, 0xffff, LEVELS | 0xff800000, 1 },
	{ 0x3c, 0xffff, LEVELS | 0xff800000, 1 },
	{ 0x13c, 0xffff, LEVELS, 1 },
	{ 0, 0, 0, 0 },
};

/* docs/x86.md, "Events an emulator models" */
TEST(events_not_modelled)
{
	struct fake_cpu c = skylake;

	c.models = modelled;
	boot(&c);
	assert_string_equal(x86_models_name(), "listed");
	assert_string_equal(names_on(ops, 0),
	    "PAPI_tot_cyc,PAPI_tot_ins,cpu_clk_unhalted.ref_p,"
	    "cpu_clk_unhalted.thread_p,inst_retired.any_p");
	assert_true(lacks(ops, "PAPI_br_ins"));
	assert_true(lacks(ops, "PAPI_l3_tcm"));
	expect_refused(
	    "PAPI_br_ins", "", "this emulator does not model event 0xc4");
	expect_refused(
	    "0x51", "umask=1", "this emulator does not model event 0x151");
	expect_refused(
	    "0xc0", "umask=1", "this emulator does not model event 0x1c0");
	expect_refused("0xc0", "edge=1,cmask=1",
	    "this emulator does not model bits 0x40000 of the event select "
	    "with event 0xc0");
	expect_refused("0x3c", "umask=1,cmask=2",
	    "this emulator does not model bits 0x2000000 of the event select "
	    "with event 0x13c");
	assert_int_equal(
	    set_add(&set, 0, "0xc0", USER, "cmask=16,inv=1", 0), 0);
	assert_int_equal(set_add(&set, 1, "0x3c", BOTH, "umask=1", 0), 0);
	assert_int_equal(set_add(&set, 4, "PAPI_tot_ins", USER, "", 0), 0);
	/* Without the list every event is accepted. */
	boot(&skylake);
	assert_string_equal(x86_models_name(), "all");
	assert_int_equal(set_add(&set, 0, "0x51", USER, "umask=1", 0), 0);
}

/*
 * IA32_PERFEVTSELx: EN 22, INT 20, OS 17, USR 16, umask 15:8; edge 18, PC 19,
 * AnyThread 21, INV 23, cmask 31:24.  CPC-PCBE-03: a unit mask replaces the
 * event's.
 */
TEST(selects)
{
	boot(&skylake);
	assert_int_equal(set_add(&set, 0, "PAPI_tot_ins", USER, "", 0), 0);
	assert_int_equal(set_add(&set, 1, "PAPI_l3_tcm", SYSTEM, "", 0), 0);
	assert_int_equal(set_add(&set, 2, "0xd1", BOTH,
			     "umask=0x41,cmask=0x10,inv=1,edge=1,anythr=1", 0),
	    0);
	assert_int_equal(set_add(&set, 3, "longest_lat_cache.reference",
			     CPC_COUNT_HV, "umask=0x02", 0),
	    0);
	set_start(&set);
	assert_int_equal(cpu->sel[0], 0x005100c0);
	assert_int_equal(cpu->sel[1], 0x0052412e);
	assert_int_equal(cpu->sel[2], 0x10f741d1);
	assert_int_equal(cpu->sel[3], 0x0050022e); /* replaced, not ORed */
	assert_int_equal(cpu->ctrl, 0x00f);
	ops->allstop();
	assert_int_equal(cpu->ctrl, 0);
	boot(&core_duo);
	assert_int_equal(set_add(&set, 1, "0x3c", USER, "pc=1", 0), 0);
	set_start(&set);
	assert_int_equal(cpu->sel[0], 0);
	assert_int_equal(cpu->sel[1], 0x0059003c);
	ops->allstop();
	assert_int_equal(cpu->sel[1], 0);
}

/* Version 6: new addresses from PIC 8 on, a second unit mask, and EQ. */
TEST(version_6)
{
	struct fake_cpu bare = sixth;

	boot(&sixth);
	assert_int_equal(
	    set_add(&set, 7, "cpu/event=0xc4,umask=0x111/", USER, "", 0), 0);
	assert_int_equal(set_add(&set, 8, "r110000001c4", SYSTEM, "", 0), 0);
	assert_int_equal(
	    set_add(&set, 9, "cpu/event=0xc0,cmask=1,eq/", USER, "", 0), 0);
	set_start(&set);
	assert_int_equal(cpu->sel[7], 0x100005111c4);
	assert_int_equal(cpu->sel[8], 0x110005201c4);
	assert_int_equal(cpu->sel[9], 0x10015100c0);
	fake_run(100, true);
	set_stop(&set);
	assert_int_equal(set.data[2], 100);
	/* leaf 23H has a gap after nine counters, no second unit mask, no EQ */
	bare.leaf_23[0].b = 0;
	bare.leaf_23[1].a = 0x5ff;
	boot(&bare);
	assert_int_equal(ops->ncounters(), 9 + 3);
	expect_refused("r100000000c4", "",
	    "this CPU lacks bits 0x10000000000 of the event select");
	expect_refused("cpu/event=0xc0,cmask=1,eq/", "",
	    "this CPU lacks bits 0x1000000000 of the event select");
	/* An emulator models the event, and not its upper bits. */
	bare = sixth;
	bare.models = modelled;
	boot(&bare);
	expect_refused("r100000000c0", "",
	    "this emulator does not model bits 0x10000000000 of the event "
	    "select with event 0xc0");
	expect_refused("cpu/event=0xc0,cmask=1,eq/", "",
	    "this emulator does not model bits 0x1000000000 of the event "
	    "select with event 0xc0");
}

/* IA32_FIXED_CTR_CTRL has four bits per counter: OS, USR, AnyThread, PMI. */
TEST(fixed_control)
{
	boot(&skylake);
	assert_int_equal(set_add(&set, 4, "PAPI_tot_ins", USER, "", 0), 0);
	assert_int_equal(
	    set_add(&set, 5, "cpu_clk_unhalted.core", BOTH, "anythr=1", 0), 0);
	assert_int_equal(
	    set_add(&set, 6, "cpu_clk_unhalted.ref", SYSTEM, "", 0), 0);
	set_start(&set);
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
	set_start(&set);
	assert_int_equal(cpu->fixed_ctrl, 0xa000);
	assert_int_equal(cpu->ctrl, 1ULL << 35);
	ops->allstop();
}

/* CPC-PCBE-04, CPC-PCBE-05, CPC-EVT-02 */
TEST(refusals)
{
	const char *ins = "inst_retired.any_p";

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

/* CPUs whose CPUID claims more than they have. */
TEST(wrong_cpuid)
{
	struct fake_cpu c = { .kind = FAKE_INTEL };

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
	assert_null(kcpc_prove(ops, 3, 0));
	c = skylake;
	c.stuck_fixed = true;
	boot(&c);
	assert_null(kcpc_prove(ops, 0, 0));
	assert_string_equal(
	    kcpc_prove(ops, 4, 0), "reads 0 after 4200 instructions");
	c = skylake;
	c.leaf_a.a = 0x07000404; /* counters of width 0 */
	fake_reset(&c);
	assert_int_equal(intel_pcbe_init(), PMU_MUTE);
}

/* With two kinds of CPU, the backend offers what both have. */
TEST(hybrid)
{
	boot(&ice_lake);
	fake_cpu[1] = efficient;
	fake_self = 1;
	assert_int_equal(intel_pcbe_init(), PMU_FOUND);
	fake_self = 0;
	assert_int_equal(ops->ncounters(), 6 + 3);
	assert_int_equal(ops->read_index(6), 0x40000000);
	assert_true(lacks(ops, "topdown.slots_p"));
	assert_int_equal(covers(ops, "0xc0"), 0x3f);
	set_add(&set, 5, "PAPI_tot_ins", USER, "", 0);
	set_add(&set, 6, "PAPI_tot_ins", USER, "", 0);
	for (fake_self = 0; fake_self < 2; fake_self++) {
		set_start(&set);
		fake_run(10, true);
		set_stop(&set);
	}
	assert_int_equal(set.data[0], 20);
	assert_int_equal(set.data[1], 20);
}

/* The same two kinds, but CPUID says that they are core types. */
static void
boot_core_types(void)
{
	struct fake_cpu p = ice_lake, e = efficient;

	p.core_type = 0x40;
	e.core_type = 0x20;
	boot(&p);
	fake_cpu[1] = e;
	fake_self = 1;
	assert_int_equal(intel_pcbe_init(), PMU_FOUND);
	fake_self = 0;
}

/* Both have PICs 0 to 5 and fixed 0 to 2; then come the first CPU's own. */
TEST(core_types)
{
	struct cpc_pmu all = { 0 }, core = { 0 }, atom = { 0 };

	boot_core_types();
	assert_int_equal(ops->pcbe_ntypes, 2);
	assert_string_equal(ops->pcbe_types[0].py_name, "cpu_core");
	assert_string_equal(ops->pcbe_types[1].py_name, "cpu_atom");
	assert_int_equal(ops->pcbe_types[0].py_cpus.cs_word[0], 1);
	assert_int_equal(ops->pcbe_types[1].py_cpus.cs_word[0], 2);
	assert_int_equal(ops->ncounters(), 12);
	assert_int_equal(ops->pcbe_shared, 0x1ff);
	assert_int_equal(ops->pcbe_types[0].py_pics, 0xfff);
	assert_int_equal(ops->pcbe_types[1].py_pics, 0x1ff);
	assert_int_equal(ops->read_index(6), 0x40000000);
	assert_int_equal(ops->read_index(9), 6);
	assert_int_equal(ops->read_index(11), 0x40000003);
	ops->describe(&all, 0);
	ops->describe(&core, 1);
	ops->describe(&atom, 2);
	assert_int_equal(all.pm_general, 0x3f);
	assert_int_equal(core.pm_general, 0x63f);
	assert_int_equal(atom.pm_general, 0x3f);
	assert_int_equal(all.pm_core, 0);
	assert_int_equal(core.pm_core, 0x40);
	assert_int_equal(atom.pm_core, 0x20);
	assert_int_equal(core.pm_own[3], 1 << 11);
	assert_int_equal(atom.pm_own[3], 0);
	assert_int_equal(all.pm_own[3], 0);
}

/* Without full-width writes general counters load 32 bits, fixed ones all. */
TEST(fixed_counters_load_all_bits)
{
	struct fake_cpu p = ice_lake, e = efficient;

	p.core_type = 0x40;
	e.core_type = 0x20;
	p.leaf1.c = e.leaf1.c = 0;
	p.full_width = e.full_width = false;
	boot(&e);
	fake_cpu[1] = p;
	fake_self = 1;
	assert_int_equal(intel_pcbe_init(), PMU_FOUND);
	fake_self = 0;
	assert_int_equal(x86_pics.xs_n, 12);
	for (unsigned n = 0; n < x86_pics.xs_n; n++)
		assert_int_equal(x86_pics.xs_pic[n].xp_short,
		    x86_pics.xs_pic[n].xp_select != 0);
}

/* Some events are those of the last cache: its level is 0 if none is known. */
TEST(level_of_the_last_cache)
{
	struct cpc_pmu pm = { 0 };

	boot(&skylake);
	ops->describe(&pm, 0);
	assert_int_equal(pm.pm_cache, 3);
	boot(&nehalem);
	ops->describe(&pm, 0);
	assert_int_equal(pm.pm_cache, 0);
}

/* Every PIC of a type counts there, and each is proved there. */
TEST(each_type_counts)
{
	boot_core_types();
	for (unsigned t = 0; t < 2; t++) {
		uint32_t pics = ops->pcbe_types[t].py_pics;

		fake_self = t;
		for (unsigned pic = 0; pic < 12; pic++) {
			if ((pics >> pic & 1) != 0)
				assert_null(kcpc_prove(ops, pic, t + 1));
		}
		set_init(&set, ops);
		set.set.ps_type = (uint8_t)(t + 1);
		for (unsigned pic = 0; pic < 12; pic++) {
			if ((pics >> pic & 1) != 0 &&
			    ops->read_index(pic) < 0x40000000)
				assert_int_equal(
				    set_add(&set, pic, "0xc0", USER, "", 0), 0);
		}
		assert_int_equal(set.set.ps_n, t == 0 ? 8 : 6);
		set_start(&set);
		fake_run(10, true);
		set_stop(&set);
		for (unsigned i = 0; i < set.set.ps_n; i++)
			assert_int_equal(set.data[i], 10);
	}
	fake_self = 0;
}

/* Boot two CPUs of a shape; a core has this number of threads. */
static void
boot_two(const struct fake_cpu *shape, unsigned threads)
{
	struct fake_cpu c = *shape;

	c.threads = threads;
	boot(&c);
	fake_self = 1;
	x86_topology_init_cpu();
	assert_int_equal(intel_pcbe_init(), PMU_FOUND);
	fake_self = 0;
}

/* CPC-BIND-26: before version 3 the threads of a core share its counters. */
TEST(siblings)
{
	struct fake_cpu c = nehalem;

	boot_two(&core_2, 2);
	assert_int_equal(ops->siblings(0)->cs_word[0], 3);
	assert_int_equal(ops->siblings(1)->cs_word[0], 3);
	boot_two(&core_duo, 2);
	assert_int_equal(ops->siblings(1)->cs_word[0], 3);
	boot_two(&core_2, 1);
	assert_null(ops->siblings);
	boot_two(&core_2, 0);
	assert_null(ops->siblings);
	boot_two(&nehalem, 2);
	assert_null(ops->siblings);
	/* a hypervisor that hides registers does not change the counters */
	c.version = 1;
	boot_two(&c, 2);
	assert_null(ops->siblings);
}

/* The threads of Nehalem and Westmere share extra MSRs, and no counters. */
TEST(threads_that_share_extra_msrs)
{
	static const struct {
		unsigned model, threads;
		bool shared;
	} cases[] = {
		{ 0x1a, 2, true },
		{ 0x2c, 2, true },
		{ 0x1a, 1, false },
		{ 0x2a, 2, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		boot_two(&nehalem, cases[i].threads);
		x86_features.model = cases[i].model;
		fake_self = 1;
		assert_int_equal(intel_pcbe_init(), PMU_FOUND);
		fake_self = 0;
		assert_null(ops->siblings);
		assert_int_equal(intel_extras_shared, cases[i].shared);
	}
	boot(&nehalem);
	assert_false(intel_extras_shared);
}
