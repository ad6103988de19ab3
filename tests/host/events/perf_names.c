/*
 * perf's symbolic names on every CPU that has a table, compared with Linux
 * 6.4: intel_perfmon_event_map, amd_perfmon_event_map and its variants for
 * Zen, armv8_pmuv3_perf_map.  A name has Linux's code, or is refused.
 */
#include <string.h>

#include "payloads/common/events/event_lookup.h"
#include "payloads/common/events/perf_names.h"
#include "tests/lib/host/test.h"

/* INT, OS, USR and EN of an event select; NSH of a PMEVTYPER. */
#define X86_LEVELS 0x530000ULL
#define ARM_LEVELS 0x8000000ULL

#define NAMES 8

enum map { INTEL, K7, ZEN, ZEN4, ARM, NMAP };

/* 0: Linux lacks the name.  The order is the order of names[]. */
static const char *const names[NAMES] = { "cycles", "instructions",
	"cache-references", "cache-misses", "branch-instructions",
	"branch-misses", "bus-cycles", "ref-cycles" };
static const uint64_t linux_has[NMAP][NAMES] = {
	[INTEL] = { 0x3c, 0xc0, 0x4f2e, 0x412e, 0xc4, 0xc5, 0x13c, 0x300 },
	[K7] = { 0x76, 0xc0, 0x77d, 0x77e, 0xc2, 0xc3, 0, 0 },
	[ZEN] = { 0x76, 0xc0, 0xff60, 0x964, 0xc2, 0xc3, 0, 0 },
	[ZEN4] = { 0x76, 0xc0, 0xff60, 0x964, 0xc2, 0xc3, 0, 0x100000120 },
	[ARM] = { 0x11, 0x8, 0x4, 0x3, 0xc, 0x10, 0x1d, 0 },
};

static enum map
map_of(const struct events *es)
{
	const char *name = es->es_pmu->ep_name;

	switch (es->es_pmu->ep_kind) {
	case EVENT_ARM:
		return ARM;
	case EVENT_AMD:
		return strstr(name, "zen4") != NULL ||
		               strstr(name, "fam1ah") != NULL
		           ? ZEN4
		       : strstr(name, "17h") != NULL ||
		               strstr(name, "19h") != NULL
		           ? ZEN
		           : K7;
	default:
		return INTEL;
	}
}

/* As in Linux, BR_RETIRED replaces an absent PC_WRITE_RETIRED. */
static bool
is_replacement(const struct events *es, const char *name, uint64_t select)
{
	return es->es_pmu->ep_kind == EVENT_ARM &&
	       strcmp(name, "branch-instructions") == 0 && select == 0x21 &&
	       events_row(es, "PC_WRITE_RETIRED") == NULL;
}

static uint64_t
levels_of(const struct events *es)
{
	return es->es_pmu->ep_kind == EVENT_ARM ? ARM_LEVELS : X86_LEVELS;
}

/* The number of names that the CPU has.  Each has Linux's code. */
static unsigned
names_of(const struct events *es)
{
	struct event_spec sp;
	struct event_code ec;
	unsigned known = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		uint64_t want = linux_has[map_of(es)][i];

		if (event_lookup(es, names[i], &sp, &ec) != EVENT_OK)
			continue;
		known++;
		ec.ec_select &= ~levels_of(es);
		if ((want == 0 || ec.ec_select != want) &&
		    !is_replacement(es, names[i], ec.ec_select))
			fail_msg("%s: %s is %#llx", es->es_pmu->ep_name,
			    names[i], (unsigned long long)ec.ec_select);
	}
	return known;
}

/* CPUs whose tables lack most: no architectural PMU, or no common branches. */
static const struct {
	const char *cpu;
	unsigned has;
} few[] = { { "netburst", 0 }, { "netburst_p", 0 }, { "knc", 0 },
	{ "arm_xgene", 3 } };

static unsigned
least_of(const char *cpu)
{
	for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
		if (strcmp(cpu, few[i].cpu) == 0)
			return few[i].has;
	}
	return 4; /* cycles, instructions, and branches or caches */
}

TEST(names_match_linux)
{
	struct event_spec sp;
	struct event_code ec;
	struct events es;

	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		unsigned known = names_of(&es);

		if (known < least_of(es.es_pmu->ep_name))
			fail_msg("%s has %u", es.es_pmu->ep_name, known);
		/* Nehalem's list has another event of the name. */
		if (es.es_pmu->ep_kind == EVENT_INTEL && known != 0)
			assert_int_equal(
			    event_lookup(&es, "branches", &sp, &ec), EVENT_OK);
	}
}

/* Linux's skl_hw_cache_event_ids and armv8_pmuv3_perf_cache_map. */
TEST(caches_match_linux)
{
	static const struct {
		const char *name;
		uint64_t skylake, arm; /* 0: Linux or the table lacks it */
	} has[] = {
		{ "L1-dcache-loads", 0x81d0, 0x4 },
		{ "L1-dcache-load-misses", 0x151, 0x3 },
		{ "L1-icache-loads", 0, 0x14 },
		{ "L1-icache-load-misses", 0x283, 0x1 },
		{ "LLC-loads", 0, 0x36 },
		{ "LLC-load-misses", 0, 0x37 },
		{ "dTLB-loads", 0x81d0, 0x25 },
		{ "dTLB-load-misses", 0xe08, 0x5 },
		{ "iTLB-loads", 0x2085, 0x26 },
		{ "iTLB-load-misses", 0xe85, 0x2 },
	};
	struct events skylake = events_find(event_dbs, "skl"),
		      n1 = events_find(event_dbs, "arm_n1");
	struct event_spec sp;
	struct event_code ec;

	for (size_t i = 0; i < sizeof has / sizeof has[0]; i++) {
		bool known =
		    event_lookup(&skylake, has[i].name, &sp, &ec) == EVENT_OK;

		assert_int_equal(known, has[i].skylake != 0);
		if (known)
			assert_int_equal(
			    ec.ec_select & ~X86_LEVELS, has[i].skylake);
		assert_int_equal(
		    event_lookup(&n1, has[i].name, &sp, &ec), EVENT_OK);
		assert_int_equal(ec.ec_select & ~ARM_LEVELS, has[i].arm);
	}
}

TEST(suffixes_set_the_levels)
{
	struct events es = events_find(event_dbs, "skl");
	struct event_spec sp;
	struct event_code ec;

	assert_int_equal(event_lookup(&es, "cycles:u", &sp, &ec), EVENT_OK);
	assert_int_equal(ec.ec_select, 0x51003c);
	assert_int_equal(event_lookup(&es, "branches:k", &sp, &ec), EVENT_OK);
	assert_int_equal(ec.ec_select, 0x5200c4);
	assert_int_equal(
	    event_lookup(&es, "cpu-cycles:ku", &sp, &ec), EVENT_OK);
	assert_int_equal(ec.ec_select, 0x53003c);
}

/* perf writes the PMU before a name, and a slash after it. */
TEST(a_pmu_may_stand_before_a_name)
{
	static const struct {
		const char *name, *native; /* the first, or NULL */
	} forms[] = {
		{ "cpu_core/instructions/", "cpu_core/INSTRUCTION_RETIRED/" },
		{ "cpu_atom/cycles/u", "cpu_atom/UNHALTED_CORE_CYCLES/u" },
		{ "cpu/branches/uk", "cpu/br_inst_retired.all_branches/uk" },
		{ "armv8_pmuv3_0/cpu-cycles/k",
		    "armv8_pmuv3_0/UNHALTED_CORE_CYCLES/k" },
		{ "cpu_core/instructions", NULL },
		{ "cpu_core/instructions/x", NULL },
		{ "cpu_core/no_such/", NULL },
		{ "instructions/u", NULL },
	};
	char native[64];

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		bool is =
		    perf_name_native(forms[i].name, 0, native, sizeof native);

		assert_int_equal(is, forms[i].native != NULL);
		if (is)
			assert_string_equal(native, forms[i].native);
	}
}

/* A name of the table has priority.  Only Knights Corner has one: BRANCHES. */
TEST(a_name_of_the_table_has_priority)
{
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	const char *name;

	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		for (unsigned i = 0; (name = perf_name_nth(i)) != NULL; i++) {
			if (events_row(&es, name) != NULL &&
			    strcmp(es.es_pmu->ep_name, "knc") != 0)
				fail_msg("%s: %s", es.es_pmu->ep_name, name);
		}
	}
	es = events_find(event_dbs, "knc");
	assert_int_equal(event_lookup(&es, "branches", &sp, &ec), EVENT_OK);
	assert_int_equal(ec.ec_select, 0x530012);
}

TEST(anything_else_is_refused)
{
	static const char *const none[] = { "", "cycle", "cyclesu",
		"cycles:", "cycles:x", "cycles:uh", "cycles:u:k", "Cycles",
		"branch", "PAPI_tot_cyc" };

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		if (perf_name_is(none[i]))
			fail_msg("%s is taken", none[i]);
	}
}
