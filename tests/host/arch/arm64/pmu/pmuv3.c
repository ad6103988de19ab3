/*
 * The PMUv3 backend on every shape that the architecture allows: what it
 * detects, how it leaves the registers, which events it offers, what it
 * writes.  The expected values are worked out by hand.  Arm ARM (DDI 0487),
 * "PMCR_EL0", "PMEVTYPER<n>_EL0", "PMCEID0_EL0".
 */
#include "tests/lib/host/arm64/pmuv3_set.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/host/named.h"

#define USER CPC_COUNT_USER
#define SYS  CPC_COUNT_SYSTEM
#define HV   CPC_COUNT_HV

static const struct pcbe_ops *const ops = &pmuv3_pcbe_ops;

/* PMUVer: v3, v3p1, v3p4, v3p5, v3p7, v3p8, v3p9, a future version. */
static const unsigned versions[] = { 1, 4, 5, 6, 7, 8, 9, 10 };
#define NVERSION (sizeof versions / sizeof versions[0])

static struct fake_shape
shape_of(unsigned version, unsigned nevent)
{
	struct fake_shape shape = shape_v3p5;

	shape.version = version;
	shape.nevent = nevent;
	return shape;
}

/* PMUVer 0 and 0xf: the other registers may be absent. */
TEST(absent_pmu_is_not_touched)
{
	static const unsigned absent[] = { 0x0, 0xf };

	for (unsigned i = 0; i < 2; i++) {
		struct fake_shape shape = shape_of(absent[i], 6);

		boot(&shape);
		assert_int_equal(pmuv3.pv_version, 0);
		assert_int_equal(ops->ncounters(), 0);
		assert_int_equal(fake_pmu[0].touched, 1);
	}
}

/* A hypervisor traps all registers, the first (ID) not; or one of them. */
TEST(trapped_pmu_is_absent)
{
	for (unsigned n = 2; n < 20; n++) {
		struct fake_shape shape = shape_of(7, 6);

		shape.trapped = n;
		boot(&shape);
		if (!pmuv3.pv_trapped) {
			assert_in_range(n, 13, 20); /* its accesses */
			assert_int_equal(ops->ncounters(), 6);
			continue;
		}
		assert_int_equal(pmuv3.pv_version, 0);
		assert_int_equal(ops->ncounters(), 0);
		assert_int_equal(fake_pmu[0].touched, n);
	}
	/* One CPU of several. */
	boot(&shape_v3p5);
	fake_self = 1;
	fake_shape.trapped = fake_pmu[1].touched + 2;
	pmuv3_pcbe_init(false, MIDR_EMULATED);
	fake_self = 0;
	assert_true(pmuv3.pv_trapped);
	assert_int_equal(ops->ncounters(), 0);
}

/* PMCR_EL0: E is bit 0, LC bit 6, LP bit 7, reserved before PMUv3p5. */
static void
init_leaves(unsigned version, unsigned nevent)
{
	const struct fake_pmu *p = &fake_pmu[0];

	assert_int_equal(p->pmcr, version >= 6 ? 0xc1 : 0x41);
	assert_int_equal(p->pmcnten, 0x80000000);
	assert_int_equal(p->pmevtyper[FAKE_NEVENT], 0x08000000);
	assert_int_equal(p->pminten, 0);
	assert_int_equal(p->pmovs, 0);
	assert_int_equal(p->pmuserenr, 0);
	for (unsigned n = 0; n < nevent; n++)
		assert_int_equal(p->pmevcntr[n], 0);
}

/* Every PIC counts for a set that has all PICs. */
static void
all_count(unsigned nevent)
{
	struct set s;

	set_init(&s, (uint32_t)pmuv3.pv_pics);
	for (unsigned n = 0; n < nevent; n++)
		assert_int_equal(
		    set_add(&s, "inst_retired", n, USER, 1000 * n), 0);
	set_start(&s);
	fake_run(0, 77);
	assert_int_equal(set_stop(&s), 0);
	for (unsigned n = 0; n < nevent; n++)
		assert_int_equal(s.data[n], 1000 * n + 77);
}

PMUV3_TEST(every_shape)
{
	for (unsigned v = 0; v < NVERSION; v++) {
		for (unsigned n = 0; n <= FAKE_NEVENT; n++) {
			struct fake_shape shape = shape_of(versions[v], n);

			boot(&shape);
			init_leaves(versions[v], n);
			assert_int_equal(ops->ncounters(), n);
			assert_int_equal(pmuv3.pv_pics, (1ULL << n) - 1);
			assert_int_equal(
			    ops->width(0), versions[v] >= 6 ? 64 : 32);
			all_count(n);
			for (unsigned i = 0; i < n; i++)
				assert_int_equal(ops->read_index(i), i);
			if (n > 0)
				assert_null(kcpc_prove(ops, n - 1, 0));
			fixture_down(state);
		}
	}
}

/* CPU 0 has six counters of 64 bits; then CPU 1 comes up. */
static void
join_cpu(unsigned version, unsigned nevent, uint64_t ceid0)
{
	boot(&shape_v3p5);
	fake_self = 1;
	fake_shape.version = version;
	fake_shape.nevent = nevent;
	fake_shape.ceid[0] = ceid0;
	pmuv3_pcbe_init(false, MIDR_EMULATED);
	fake_self = 0;
	fake_shape = shape_v3p5;
}

/*
 * If CPUs differ, the backend offers what all of them have, in any boot order.
 */
TEST(unlike_cpus)
{
	join_cpu(7, 20, ~0ULL);
	assert_int_equal(pmuv3.pv_version, 6);
	assert_int_equal(ops->ncounters(), 6);
	assert_true(pmuv3.pv_ceid[0] == shape_v3p5.ceid[0]);
	join_cpu(9, 4, 1ULL << ARM_INST_RETIRED);
	assert_int_equal(pmuv3.pv_version, 6);
	assert_int_equal(ops->ncounters(), 4);
	assert_int_equal(pmuv3.pv_pics, 0xf);
	assert_true(pmuv3_has_event(ARM_INST_RETIRED));
	assert_false(pmuv3_has_event(ARM_CPU_CYCLES));
	all_count(4);
	join_cpu(4, 6, 0); /* counters of 32 bits */
	assert_true(pmuv3.pv_widths_differ);
	assert_int_equal(ops->ncounters(), 0);
	join_cpu(0, 0, 0); /* no PMU */
	assert_int_equal(ops->ncounters(), 0);
	assert_int_equal(pmuv3.pv_pics, 0);
}

/* A big CPU with six counters, and a little one with four. */
static void
boot_big_little(void)
{
	fake_reset(&shape_v3p5);
	memset(&pmuv3, 0, sizeof pmuv3);
	pmuv3_pcbe_init(false, MIDR_A76);
	fake_self = 1;
	fake_shape.nevent = 4;
	fake_shape.ceid[0] = 1ULL << ARM_INST_RETIRED | 1ULL << 0x10;
	pmuv3_pcbe_init(false, MIDR_A55);
	fake_self = 0;
	fake_shape = shape_v3p5;
	pmuv3_pcbe_overflow(PMUV3_PLAIN);
}

/* A set of that ps_type takes the event on the PIC, or returns a subcode. */
static int
takes(unsigned type, uint64_t code, unsigned pic)
{
	struct cpc_event ev = { .ce_code = code };
	struct pcbe_cfg cfg = { .pc_pic = (uint8_t)pic, .pc_flags = USER };
	struct pcbe_set set = {
		.ps_type = (uint8_t)type, .ps_pics = 1U << pic, .ps_cfg = &cfg
	};

	return ops->configure(&cfg, &ev, 0, NULL, &set, &named_refusal);
}

TEST(parts_are_core_types)
{
	struct cpc_pmu all = { 0 }, big = { 0 }, little = { 0 };

	boot_big_little();
	assert_int_equal(ops->pcbe_ntypes, 2);
	assert_string_equal(ops->pcbe_types[0].py_name, "armv8_cortex_a76");
	assert_string_equal(ops->pcbe_types[1].py_name, "armv8_cortex_a55");
	assert_int_equal(ops->pcbe_types[0].py_cpus.cs_word[0], 1);
	assert_int_equal(ops->pcbe_types[1].py_cpus.cs_word[0], 2);
	assert_int_equal(ops->pcbe_types[0].py_pics, 0x3f);
	assert_int_equal(ops->pcbe_types[1].py_pics, 0xf);
	assert_int_equal(ops->pcbe_shared, 0xf);
	assert_int_equal(ops->ncounters(), 6);
	ops->describe(&all, 0);
	ops->describe(&big, 1);
	ops->describe(&little, 2);
	assert_int_equal(all.pm_general, 0xf);
	assert_int_equal(big.pm_general, 0x3f);
	assert_int_equal(little.pm_general, 0xf);
	assert_int_equal(big.pm_model, 0xd0b);
	assert_int_equal(little.pm_model, 0xd05);
	assert_true(all.pm_events[0] == 1ULL << ARM_INST_RETIRED);
	assert_true(big.pm_events[0] == CEID0_QEMU);
	assert_true(
	    little.pm_events[0] == (1ULL << ARM_INST_RETIRED | 1ULL << 0x10));
}

/* A part has its name in Linux: drivers/perf/arm_pmuv3.c of Linux 7.3. */
TEST(new_cores_have_linux_names)
{
	static const struct {
		uint64_t midr;
		const char *name;
	} parts[FAKE_NCPU] = {
		{ 0x410fd8c0, "armv8_c1_ultra" },
		{ 0x411fd8b2, "armv8_c1_pro" },
		{ 0x410fd8f0, "armv9_cortex_a320" },
	};

	fake_reset(&shape_v3p5);
	memset(&pmuv3, 0, sizeof pmuv3);
	for (fake_self = 0; fake_self < FAKE_NCPU; fake_self++)
		pmuv3_pcbe_init(false, parts[fake_self].midr);
	fake_self = 0;
	assert_int_equal(ops->pcbe_ntypes, FAKE_NCPU);
	for (unsigned t = 0; t < FAKE_NCPU; t++)
		assert_string_equal(ops->pcbe_types[t].py_name, parts[t].name);
}

/* An emulator counts what PMCEID of the type announces. */
TEST(events_of_each_type)
{
	static const uint64_t every[2] = { ~0ULL, ~0ULL };

	pmuv3_counts = every;
	boot_big_little();
	assert_int_equal(takes(0, ARM_INST_RETIRED, 0), 0);
	assert_int_equal(takes(0, ARM_CPU_CYCLES, 0), CPC_RESOURCE_UNAVAIL);
	assert_int_equal(takes(1, ARM_CPU_CYCLES, 5), 0);
	assert_int_equal(takes(2, ARM_CPU_CYCLES, 0), CPC_RESOURCE_UNAVAIL);
	assert_int_equal(takes(1, 0x10, 0), CPC_RESOURCE_UNAVAIL);
	assert_int_equal(takes(2, 0x10, 0), 0);
	pmuv3_counts = NULL;
}

/* An event that is announced, and is not in the emulator's list, has no PIC. */
TEST(listed_events_only)
{
	static const uint64_t list[2] = { 1ULL << ARM_INST_RETIRED, 0 };
	struct fake_shape shape = shape_of(PMUVER_V3P5, 4);
	struct cpc_pmu pm = { 0 };

	pmuv3_counts = list;
	boot(&shape);
	assert_int_equal(takes(0, ARM_INST_RETIRED, 0), 0);
	assert_int_equal(takes(0, ARM_CPU_CYCLES, 0), CPC_RESOURCE_UNAVAIL);
	ops->describe(&pm, 0);
	assert_true(pm.pm_listed);
	assert_true(pm.pm_events[0] == list[0] && pm.pm_events[1] == 0);
	pmuv3_counts = NULL;
}

PMUV3_TEST(name_shows_the_version)
{
	static const char *const names[NVERSION] = { "Arm PMUv3", "Arm PMUv3p1",
		"Arm PMUv3p4", "Arm PMUv3p5", "Arm PMUv3p7", "Arm PMUv3p8",
		"Arm PMUv3p9", "Arm PMUv3, later" };

	for (unsigned v = 0; v < NVERSION; v++) {
		struct fake_shape shape = shape_of(versions[v], 4);

		boot(&shape);
		assert_string_equal(ops->impl_name(), names[v]);
	}
}

/*
 * PMEVTYPER<n>_EL0: P, bit 31, excludes EL1; U, bit 30, excludes EL0; NSH, bit
 * 27, includes EL2; the event is in bits 15:0.
 */
PMUV3_TEST(event_select_by_hand)
{
	static const struct {
		const char *event;
		unsigned flags;
		uint64_t typer;
	} cases[] = {
		{ "inst_retired", USER, 0x80000008 },
		{ "inst_retired", SYS, 0x40000008 },
		{ "inst_retired", USER | SYS, 0x00000008 },
		{ "PAPI_tot_ins", USER, 0x80000008 },
		{ "cpu_cycles", USER | SYS, 0x00000011 },
		{ "PAPI_tot_cyc", SYS, 0x40000011 },
		{ "0x8", USER, 0x80000008 },
		{ "0x4005", SYS, 0x40004005 },
		{ "65535", USER | SYS, 0x0000ffff },
		{ "inst_retired", HV, 0xc8000008 },
		{ "inst_retired", USER | HV, 0x88000008 },
		{ "cpu_cycles", USER | SYS | HV, 0x08000011 },
	};
	struct set s;

	boot(&shape_v3p5);
	pmuv3.pv_owns_el2 = true;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		set_one(&s, cases[i].event, 3, cases[i].flags, 0);
		set_start(&s);
		assert_int_equal(fake_pmu[0].pmevtyper[3], cases[i].typer);
		assert_int_equal(fake_pmu[0].pmcnten, 0x80000008);
		set_stop(&s);
	}
}

/*
 * A PIC counts exactly the instructions of the levels that its request names.
 */
PMUV3_TEST(each_level_is_counted_separately)
{
	static const unsigned levels[] = { USER, SYS, HV };
	struct set s;

	boot(&shape_v3p5);
	pmuv3.pv_owns_el2 = true;
	set_init(&s, 0x3f);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(
		    set_add(&s, "inst_retired", i, levels[i], 0), 0);
	assert_int_equal(set_add(&s, "inst_retired", 3, USER | SYS, 0), 0);
	assert_int_equal(set_add(&s, "cpu_cycles", 4, USER | SYS | HV, 0), 0);
	set_start(&s);
	fake_run(0, 10);
	fake_run(1, 200);
	fake_run(2, 3000);
	set_stop(&s);
	assert_int_equal(s.data[0], 10);
	assert_int_equal(s.data[1], 200);
	assert_int_equal(s.data[2], 3000);
	assert_int_equal(s.data[3], 210);
	assert_int_equal(s.data[4], 3210 * FAKE_CPI);
}

PMUV3_TEST(el2_is_refused_without_ownership)
{
	struct set s;

	boot(&shape_v3p5);
	set_init(&s, 1);
	assert_int_equal(
	    set_add(&s, "inst_retired", 0, USER | HV, 0), CPC_HV_NO_ACCESS);
}

/* evtCount has ten bits before PMUv3p1 (FEAT_PMUv3p1), then sixteen. */
PMUV3_TEST(raw_codes_fit_the_field)
{
	static const struct {
		unsigned version;
		const char *code;
		int subcode;
	} cases[] = {
		{ 1, "0x0", 0 },
		{ 1, "0x3ff", 0 },
		{ 1, "0x400", CPC_INVALID_EVENT },
		{ 1, "0x4000", CPC_INVALID_EVENT },
		{ 4, "0x400", 0 },
		{ 4, "0xffff", 0 },
		{ 4, "0x10000", CPC_INVALID_EVENT },
		{ 6, "0x10008", CPC_INVALID_EVENT },
		{ 6, "0x100000008", CPC_INVALID_EVENT },
		{ 6, "0xffffffffffffffff", CPC_INVALID_EVENT },
	};
	struct set s;

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fake_shape shape = shape_of(cases[i].version, 4);

		boot(&shape);
		set_init(&s, 1);
		named_refusal.cf_why[0] = '\0';
		assert_int_equal(
		    set_add(&s, cases[i].code, 0, USER, 0), cases[i].subcode);
		assert_string_equal(named_refusal.cf_why,
		    cases[i].subcode == 0 ? ""
		    : cases[i].version == 1
			? "an event's number is at most 0x3ff"
			: "an event's number is at most 0xffff");
	}
}

PMUV3_TEST(no_attribute_is_known)
{
	struct cpc_packattr attr = { .cpa_id = 0, .cpa_value = 1 };
	struct pcbe_cfg cfg = { .pc_flags = USER };
	struct cpc_event ev = { .ce_code = 8, .ce_pics = 1 };
	struct pcbe_set set = { .ps_pics = 1 };

	boot(&shape_v3p5);
	assert_int_equal(ops->pcbe_attrs, 0);
	assert_int_equal(
	    ops->configure(&cfg, &ev, 1, &attr, &set, &named_refusal),
	    CPC_INVALID_ATTRIBUTE);
}

/* THWIDTH, bits 23:20, is 2; EDGE, bits 27:24, is 1 or 0. */
#define PMMIR_TH   0x00200000
#define PMMIR_BOTH 0x01200000

static int
attrs_add(
    struct set *s, uint64_t code, unsigned n, const struct cpc_packattr *attrs)
{
	struct pcbe_cfg *cfg = &s->cfg[s->set.ps_n];
	struct cpc_event ev = { .ce_code = code };
	int subcode;

	s->set.ps_cfg = s->cfg;
	*cfg = (struct pcbe_cfg){ .pc_pic = (uint8_t)s->set.ps_n,
		.pc_flags = USER };
	subcode = ops->configure(cfg, &ev, n, attrs, &s->set, &named_refusal);
	s->set.ps_n += subcode == 0;
	return subcode;
}

/*
 * PMEVTYPER<n>_EL0: TC, bits 63:61, is 5 for TH or more, 7 for fewer, 1 for not
 * TH times; TE is bit 60, TH begins at bit 32.  In 12 instructions FAKE_WAVE
 * happens 0, 1, 2, 3 times, three times over: 18 in all.
 */
PMUV3_TEST(thresholds_and_edges_count_by_hand)
{
	static const struct {
		uint64_t cmask, inv, edge, typer, count;
	} cases[] = {
		{ 0, 0, 0, 0x00000000800000c0, 18 },
		{ 0, 1, 0, 0x00000000800000c0, 18 },
		{ 1, 0, 0, 0xa0000001800000c0, 9 },
		{ 2, 0, 0, 0xa0000002800000c0, 6 },
		{ 3, 0, 0, 0xa0000003800000c0, 3 },
		{ 2, 1, 0, 0xe0000002800000c0, 6 },
		{ 3, 9, 0, 0xe0000003800000c0, 9 },
		{ 0, 0, 1, 0x30000000800000c0, 3 },
		{ 2, 0, 1, 0xb0000002800000c0, 3 },
		{ 1, 1, 7, 0xf0000001800000c0, 3 },
	};
	struct fake_shape shape = shape_of(8, 1);
	struct set s;

	shape.pmmir = PMMIR_BOTH;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cpc_packattr attrs[] = {
			{ .cpa_id = CPC_ATTR_CMASK,
			    .cpa_value = cases[i].cmask },
			{ .cpa_id = CPC_ATTR_INV, .cpa_value = cases[i].inv },
			{ .cpa_id = CPC_ATTR_EDGE, .cpa_value = cases[i].edge },
		};

		boot(&shape);
		set_init(&s, 1);
		assert_int_equal(attrs_add(&s, FAKE_WAVE, 3, attrs), 0);
		set_start(&s);
		fake_run(1, 2); /* the next instruction has no event */
		fake_run(0, 12);
		set_stop(&s);
		assert_true(fake_pmu[0].pmevtyper[0] == cases[i].typer);
		assert_int_equal(s.data[0], cases[i].count);
	}
}

/* A PMU has the attributes that PMMIR_EL1 announces, from PMUv3p7 on. */
PMUV3_TEST(pmmir_decides_the_attributes)
{
	static const struct {
		unsigned version;
		uint64_t pmmir;
		uint32_t attrs; /* edge is 0, inv 2, cmask 4 */
	} cases[] = {
		{ 6, PMMIR_BOTH, 0 },
		{ 7, 0, 0 },
		{ 7, PMMIR_TH, 0x14 },
		{ 9, PMMIR_BOTH, 0x15 },
		{ 9, 0x0f0fffff, 0 },
	};
	struct cpc_packattr edge = { .cpa_id = CPC_ATTR_EDGE, .cpa_value = 1 };
	struct cpc_packattr much = { .cpa_id = CPC_ATTR_CMASK, .cpa_value = 4 };
	struct set s;

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fake_shape shape = shape_of(cases[i].version, 2);
		bool th = cases[i].attrs != 0;

		shape.pmmir = cases[i].pmmir;
		boot(&shape);
		assert_int_equal(ops->pcbe_attrs, cases[i].attrs);
		set_init(&s, 3);
		assert_int_equal(attrs_add(&s, 8, 1, &edge),
		    (cases[i].attrs & 1) != 0 ? 0 : CPC_INVALID_ATTRIBUTE);
		assert_int_equal(attrs_add(&s, 8, 1, &much),
		    th ? CPC_ATTRIBUTE_OUT_OF_RANGE : CPC_INVALID_ATTRIBUTE);
		if (th)
			assert_string_equal(
			    named_refusal.cf_why, "cmask is at most 0x3");
	}
}

/*
 * PMUCountValue() of the Arm ARM notes whether the condition was true in each
 * cycle, also without a threshold.  So an event that goes on is no edge.
 */
PMUV3_TEST(an_edge_is_seen_from_the_cycle_before)
{
	struct cpc_packattr attrs[] = {
		{ .cpa_id = CPC_ATTR_CMASK, .cpa_value = 2 },
		{ .cpa_id = CPC_ATTR_EDGE, .cpa_value = 1 },
	};
	struct fake_shape shape = shape_of(8, 1);
	struct set s;

	shape.pmmir = PMMIR_BOTH;
	boot(&shape);
	set_init(&s, 1);
	assert_int_equal(attrs_add(&s, FAKE_WAVE, 0, NULL), 0);
	set_start(&s);
	fake_run(1, 2);
	fake_run(0, 3); /* 0, 1, 2 */
	set_stop(&s);
	assert_int_equal(s.data[0], 3);
	set_init(&s, 1);
	assert_int_equal(attrs_add(&s, FAKE_WAVE, 2, attrs), 0);
	set_start(&s);
	fake_run(0, 1); /* 3: it goes on */
	set_stop(&s);
	assert_int_equal(s.data[0], 0);
}

/* TH has 12 bits: PMMIR_EL1.THWIDTH above 12 is reserved. */
PMUV3_TEST(a_threshold_fits_its_field)
{
	struct cpc_packattr attr = { .cpa_id = CPC_ATTR_CMASK };
	struct fake_shape shape = shape_of(8, 2);
	struct set s;

	shape.pmmir = 0x00f00000;
	boot(&shape);
	set_init(&s, 3);
	attr.cpa_value = 0xfff;
	assert_int_equal(attrs_add(&s, 8, 1, &attr), 0);
	assert_true(s.cfg[0].pc_sel == 0xa0000fff80000008);
	attr.cpa_value = 0x1000;
	assert_int_equal(
	    attrs_add(&s, 8, 1, &attr), CPC_ATTRIBUTE_OUT_OF_RANGE);
	assert_string_equal(named_refusal.cf_why, "cmask is at most 0xfff");
}

/* The little CPU has no edges and smaller thresholds: so have both together. */
TEST(types_have_attributes_of_their_own)
{
	struct fake_shape shape = shape_of(7, 4);

	shape.pmmir = 0x01300000;
	fake_reset(&shape);
	memset(&pmuv3, 0, sizeof pmuv3);
	pmuv3_pcbe_init(false, MIDR_A76);
	fake_self = 1;
	fake_shape.pmmir = 0x00400000;
	pmuv3_pcbe_init(false, MIDR_A55);
	fake_self = 0;
	assert_int_equal(ops->pcbe_types[0].py_attrs, 0x15);
	assert_int_equal(ops->pcbe_types[1].py_attrs, 0x14);
	assert_int_equal(ops->pcbe_attrs, 0x14);
	assert_int_equal(pmuv3.pv_threshold, 3);
}

/* The PMU has at most one event among the 128 from e on: this event. */
static void
has_only(unsigned e, unsigned event, bool has)
{
	for (unsigned end = e + 128; e < end; e++)
		assert_int_equal(pmuv3_has_event(e), has && e == event);
}

/*
 * Bits 0 to 31 of PMCEID<r>_EL0 are events 32 * r and on.  Bits 32 to 63 are
 * events 0x4000 + 32 * r and on; they exist from PMUv3p1 on.
 */
PMUV3_TEST(pmceid_bits_by_hand)
{
	for (unsigned v = 0; v < NVERSION; v++) {
		for (unsigned bit = 0; bit < 128; bit++) {
			struct fake_shape shape = shape_of(versions[v], 4);
			unsigned r = bit / 64, b = bit % 64;
			unsigned event =
			    b < 32 ? 32 * r + b : 0x4000 + 32 * r + b - 32;

			shape.ceid[0] = shape.ceid[1] = 0;
			shape.ceid[r] = 1ULL << b;
			boot(&shape);
			for (unsigned e = 0; e < 0x10000; e += 0x2000)
				has_only(e, event, b < 32 || versions[v] >= 4);
		}
	}
}

/* The list has every event that PMCEID reports, under all its names. */
PMUV3_TEST(the_list_matches_pmceid)
{
	static const char *const want[] = { "PAPI_tot_cyc", "PAPI_tot_ins",
		"cpu_cycles", "inst_retired", "sw_incr" };
	char name[CPC_MAX_EVENT_LEN + EVENT_WORD];
	unsigned i = 0;

	boot(&shape_v3p5);
	for (unsigned generic = 2; generic-- > 0;) {
		struct machine_list ml = { 0 };

		while (machine_next(named_machine(ops), 1, generic != 0, &ml,
		    name, CPC_MAX_EVENT_LEN))
			assert_string_equal(name, want[i++]);
	}
	assert_int_equal(i, 5);
}

static uint64_t
code_of(const char *name)
{
	struct cpc_event ev = { .ce_code = 0 };
	uint64_t pics = named_event(ops, name, &ev);

	assert_int_equal(pics, ev.ce_pics);
	assert_int_equal(pics != 0, ev.ce_code != 0);
	assert_int_equal(ev.ce_flags, pics != 0 ? CPC_EVENT_GENERIC : 0);
	return ev.ce_code;
}

/* The presets count branches that retire, not speculated branches. */
PMUV3_TEST(presets_count_retired_branches)
{
	for (unsigned event = 0; event < 64; event++) {
		struct fake_shape shape = shape_v3p5;

		shape.ceid[0] = shape.ceid[1] = 0;
		shape.ceid[event / 32] = 1ULL << event % 32;
		boot(&shape);
		assert_int_equal(
		    code_of("PAPI_br_ins"), event == 0x21 ? event : 0);
		assert_int_equal(
		    code_of("PAPI_br_msp"), event == 0x22 ? event : 0);
	}
}

PMUV3_TEST(names_resolve_to_numbers)
{
	struct cpc_event ev;

	boot(&shape_v3p5);
	assert_int_equal(named_event(ops, "inst_retired", &ev), 0x3f);
	assert_int_equal(ev.ce_code, 8);
	assert_int_equal(ev.ce_flags, 0);
	assert_int_equal(ev.ce_pics, 0x3f);
	assert_int_equal(named_event(ops, "PAPI_tot_cyc", &ev), 0x3f);
	assert_int_equal(ev.ce_code, 0x11);
	assert_int_equal(ev.ce_flags, CPC_EVENT_GENERIC);
	/* An event that this PMU lacks, then names that do not exist. */
	assert_int_equal(named_event(ops, "l1d_cache", &ev), 0);
	assert_int_equal(named_event(ops, "Inst_Retired", &ev), 0);
	assert_int_equal(named_event(ops, "", &ev), 0);
	/* Arm writes its names in capitals. */
	assert_int_equal(named_event(ops, "INST_RETIRED", &ev), 0x3f);
	assert_int_equal(ev.ce_code, 8);
	assert_int_equal(named_event(ops, "0x99", &ev), 0x3f);
	assert_int_equal(ev.ce_flags, CPC_EVENT_RAW);
}

/* The version and the events that both CPUs have. */
TEST(common_version_and_events)
{
	struct fake_shape shape = shape_of(7, 6);

	shape.ceid[0] = 3;
	shape.ceid[1] = 5;
	fake_reset(&shape);
	memset(&pmuv3, 0, sizeof pmuv3);
	fake_self = 0;
	pmuv3_pcbe_init(false, MIDR_EMULATED);
	assert_int_equal(pmuv3.pv_pics, 0x3f); /* the same as with one CPU */
	fake_self = 1;
	fake_shape.version = 6;
	fake_shape.ceid[0] = 6;
	fake_shape.ceid[1] = 12;
	pmuv3_pcbe_init(false, MIDR_EMULATED);
	fake_self = 0;
	assert_int_equal(pmuv3.pv_version, 6);
	assert_int_equal(pmuv3.pv_pics, 0x3f);
	assert_int_equal(pmuv3.pv_ceid[0], 2);
	assert_int_equal(pmuv3.pv_ceid[1], 4);
}

/*
 * PMCEID says which common events exist.  Other events belong to a CPU model.
 */
PMUV3_TEST(events_of_the_tables)
{
	static const struct {
		uint64_t select;
		bool has;
	} cases[] = {
		{ 0x8, true },
		{ 0x7, false },
		{ 0x20, false },
		{ 0x3f, false },
		{ 0x40, true },
		{ 0x4003, true },
		{ 0x4004, false },
		{ 0x403f, false },
		{ 0x4040, true },
		{ 0xffff, true },
		/* the request sets the privileges */
		{ 0xc8000000 | 0x8, true },
		{ 0xc8000000 | 0x7, false },
	};
	struct fake_shape shape = shape_of(6, 6);

	shape.ceid[0] = 1ULL << 8 | 1ULL << (32 + 3);
	boot(&shape);
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct event_code ec = { .ec_select = cases[i].select };
		struct cpc_event ev = { 0 };

		assert_int_equal(
		    named_code(ops, &ec, &ev), cases[i].has ? 0x3f : 0);
		assert_int_equal(ev.ce_code, cases[i].select & 0xffff);
	}
}

/* Sets start and stop while a PIC is kept.  Their PICs count as without it. */
TEST(a_kept_pic_never_stops)
{
	struct fake_shape shape = shape_of(6, 6);
	struct set kept, s;

	boot(&shape);
	set_init(&kept, 1 << 5);
	set_one(&kept, "inst_retired", 5, USER, 0);
	ops->keep(&kept.set);
	fake_run(0, 3);
	all_count(5);
	fake_run(0, 19);
	ops->allstop();
	fake_run(0, 1);
	fake_pmu[0].pmovs |= 1 << 5 | 1 << 4;
	pmu_isb(); /* an interrupt synchronises in the same way */
	assert_int_equal(ops->overflow_bitmap(), 1 << 4);
	assert_int_equal(fake_pmu[0].pmovs, 1 << 5);
	set_init(&s, 1 << 0);
	set_one(&s, "inst_retired", 0, SYS, 0);
	set_start(&s);
	fake_run(0, 100);
	assert_int_equal(set_stop(&s), 0);
	set_sample(&kept);
	assert_int_equal(kept.data[0], 200);
	assert_int_equal(s.data[0], 0);
	assert_int_equal(fake_pmu[0].pminten, 0);
}

/* The kept PIC counted for the CPU's last set, as the last proof's does. */
TEST(the_next_set_does_not_clear_a_kept_pic)
{
	struct fake_shape shape = shape_of(6, 6);
	struct set kept, s;

	boot(&shape);
	set_init(&s, 1 << 5);
	set_one(&s, "inst_retired", 5, USER, 0);
	set_start(&s);
	assert_int_equal(set_stop(&s), 0);
	set_init(&kept, 1 << 5);
	set_one(&kept, "inst_retired", 5, USER, 0);
	ops->keep(&kept.set);
	fake_run(0, 100);
	set_init(&s, 1 << 0);
	set_one(&s, "inst_retired", 0, USER, 0);
	set_start(&s);
	fake_run(0, 100);
	assert_int_equal(set_stop(&s), 0);
	set_sample(&kept);
	assert_int_equal(kept.data[0], 200);
}
