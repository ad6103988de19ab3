/*
 * The PMUv3 backend selects an event: the value that it writes for filters, raw
 * codes and attributes.  The expected values are worked out by hand.  Arm ARM
 * (DDI 0487), "PMEVTYPER<n>_EL0", "PMMIR_EL1".
 */
#include "tests/lib/host/arm64/pmuv3_set.h"

#include "tests/lib/host/named.h"

#define USER CPC_COUNT_USER
#define SYS  CPC_COUNT_SYSTEM
#define HV   CPC_COUNT_HV

static const struct pcbe_ops *const ops = &pmuv3_pcbe_ops;

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

/* A PIC counts exactly the instructions of the levels of its request. */
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
