/*
 * The PMUv3 backend on every shape that the architecture allows: what it
 * detects, how it leaves the registers, which events it offers.  The expected
 * values are worked out by hand.  Arm ARM (DDI 0487), "PMCR_EL0",
 * "PMEVTYPER<n>_EL0", "PMCEID0_EL0".
 */
#include "tests/lib/host/arm64/pmuv3_set.h"

#include <string.h>

#include "tests/lib/host/named.h"

#define USER CPC_COUNT_USER
#define SYS  CPC_COUNT_SYSTEM

static const struct pcbe_ops *const ops = &pmuv3_pcbe_ops;

/* PMUVer: v3, v3p1, v3p4, v3p5, v3p7, v3p8, v3p9, a future version. */
static const unsigned versions[] = { 1, 4, 5, 6, 7, 8, 9, 10 };
#define NVERSION (sizeof versions / sizeof versions[0])

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
	assert_int_equal(set_run(&s, 77), 0);
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

/* CPUs that differ: the backend offers what all have, in any boot order. */
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

/* PMCEID says which common events exist; others belong to a CPU model. */
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
	assert_int_equal(set_run(&s, 100), 0);
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
	assert_int_equal(set_run(&s, 100), 0);
	set_sample(&kept);
	assert_int_equal(kept.data[0], 200);
}
