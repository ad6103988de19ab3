/*
 * Events by the names of the CPU's table.  Each spelling of an event counts
 * the same.  In an emulator, listed events that it does not model count
 * nothing.
 *
 * Two requests of one set that count the same event get the same count of a
 * loop: no tolerance.
 */
#include "tests/lib/image/cpc_test.h"

#include <stdio.h>
#include <string.h>

#include "events/machine.h"

TEST_KEEPS(32);

#define SHORT 1000
#define LONG  6000
#define BOTH  (CPC_COUNT_USER | CPC_COUNT_SYSTEM)

static bool
has_table(void)
{
	return machine_here() != NULL &&
	       machine_here()->mc_table.es_pmu != NULL;
}

#define NEEDS_TABLE()                                                          \
	do {                                                                   \
		if (!has_table())                                              \
			SKIP("there is no table of this CPU's events");        \
	} while (0)

static int
try_add(cpc_t *cpc, cpc_set_t *set, const char *event, uint_t flags)
{
	return cpc_set_add_request(cpc, set, event, 0, flags, 0, NULL);
}

/*
 * The counts of LONG - SHORT iterations by requests 0 and 1.  A sample reads
 * one PIC after the other.  That offset is the same in both measurements, so
 * the difference cancels it.
 */
static bool
count_both(cpc_t *cpc, cpc_set_t *set, uint64_t *value)
{
	uint64_t less[2];

	if (!EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0))
		return false;
	spin_counted(cpc, set, LONG, value);
	spin_counted(cpc, set, SHORT, less);
	for (int i = 0; i < 2; i++)
		value[i] -= less[i];
	return true;
}

static bool
same_code(cpc_t *cpc, cpc_set_t *set)
{
	cpc_reqinfo_t info[2];

	for (int i = 0; i < 2; i++)
		EXPECT_EQ(cpc_request_info(cpc, set, i, &info[i]), 0);
	return general_code(info[0].ri_code) == general_code(info[1].ri_code);
}

/* The CPU's table has the name, but the emulator does not model the event. */
static bool
is_unmodelled(cpc_t *cpc, const char *name)
{
	cpc_set_t *set = cpc_set_create(cpc);
	bool refused = try_add(cpc, set, name, BOTH) == 0 &&
	               cpc_bind_curlwp(cpc, set, 0) != 0 &&
	               strstr(test_detail.text, "does not model") != NULL;

	cpc_set_destroy(cpc, set);
	return refused;
}

/*
 * If this CPU's table has the name with the preset's code, both count the
 * same.  The codes differ if the CPU gives the name to another event: Sandy
 * Bridge's BR_INST_RETIRED is 0x4c4.  Returns the number of names compared.
 */
static unsigned
compare_with_preset(cpc_t *cpc, const char *preset, const char *name)
{
	cpc_set_t *set = cpc_set_create(cpc);
	uint64_t value[2] = { 0 };
	unsigned tested = 0;

	add_flags(cpc, set, preset, BOTH);
	if (try_add(cpc, set, name, BOTH) == 1 && !is_unmodelled(cpc, name) &&
	    count_both(cpc, set, value) && same_code(cpc, set)) {
		tested = 1;
		if (!EXPECT_EQ(value[1], value[0]) ||
		    !EXPECT(value[0] >= LONG - SHORT))
			test_note("event: %s", name);
	}
	cpc_set_destroy(cpc, set);
	return tested;
}

/* Spellings from Intel's, AMD's and Arm's tables.  A CPU has some of them. */
static const struct {
	const char *preset, *name;
} spellings[] = {
	{ "PAPI_tot_ins", "INST_RETIRED:ANY_P" },
	{ "PAPI_tot_ins", "INST_RETIRED.ANY_P" },
	{ "PAPI_tot_ins", "inst_retired:any_p" },
	{ "PAPI_tot_ins", "INST_RETIRED:ANY_P:c=0:i=0" },
	{ "PAPI_tot_ins", "INST_RETIRED:ANY_P:k=1:u=1" },
	{ "PAPI_tot_ins", "INSTRUCTION_RETIRED" },
	{ "PAPI_tot_ins", "INSTRUCTIONS_RETIRED" },
	{ "PAPI_tot_ins", "INST_RETIRED" },
	{ "PAPI_tot_ins", "inst_retired" },
	{ "PAPI_tot_ins", "RETIRED_INSTRUCTIONS" },
	{ "PAPI_tot_ins", "RETIRED_INSTRUCTIONS:u:k" },
	{ "PAPI_tot_cyc", "CPU_CLK_UNHALTED:THREAD_P" },
	{ "PAPI_tot_cyc", "CPU_CLK_UNHALTED:CORE_P" },
	{ "PAPI_tot_cyc", "UNHALTED_CORE_CYCLES" },
	{ "PAPI_tot_cyc", "CPU_CYCLES" },
	{ "PAPI_tot_cyc", "CYCLES_NOT_IN_HALT" },
	{ "PAPI_tot_cyc", "CPU_CLK_UNHALTED" },
	{ "PAPI_br_ins", "BR_INST_RETIRED:ALL_BRANCHES" },
	{ "PAPI_br_ins", "BRANCH_INSTRUCTIONS_RETIRED" },
	{ "PAPI_br_ins", "RETIRED_BRANCH_INSTRUCTIONS" },
};

/* CPC-REQ-03, CPC-EVT-03 */
CPC_TEST(every_spelling_counts_the_same)
{
	unsigned tested = 0;

	NEEDS_TABLE();
	for (unsigned i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
		if (have_event(cpc, spellings[i].preset))
			tested += compare_with_preset(
			    cpc, spellings[i].preset, spellings[i].name);
	}
	EXPECT(tested >= 3);
}

/* CPC-REQ-03: a table's name in mixed case, PAPI's in capitals: unknown. */
CPC_TEST(case_matters_in_names)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_TABLE();
	EXPECT_REPORTED(try_add(cpc, set, "Inst_Retired", BOTH), EINVAL,
	    "cpc_set_add_request", CPC_INVALID_EVENT);
	EXPECT_REPORTED(try_add(cpc, set, "PAPI_TOT_INS", BOTH), EINVAL,
	    "cpc_set_add_request", CPC_INVALID_EVENT);
}

/* The error's text suggests the name that was probably meant, if any. */
CPC_TEST(an_unknown_name_gets_a_suggestion)
{
	cpc_set_t *set = cpc_set_create(cpc);
	static const char *const misses[] = { "INSTRUCTION_RETIERD",
		"CPU_CYCLE", "RETIRED_INSTRUCTION" };
	unsigned hints = 0;

	NEEDS_TABLE();
	for (unsigned i = 0; i < sizeof misses / sizeof misses[0]; i++) {
		EXPECT_REPORTED(try_add(cpc, set, misses[i], BOTH), EINVAL,
		    "cpc_set_add_request", CPC_INVALID_EVENT);
		hints += strstr(test_detail.text,
			     "Unknown event: did you mean ") != NULL;
	}
	EXPECT(hints >= 1);
	EXPECT_REPORTED(try_add(cpc, set, "no_such_event", BOTH), EINVAL,
	    "cpc_set_add_request", CPC_INVALID_EVENT);
	EXPECT(strcmp(test_detail.text, "Unknown event\n") == 0);
}

/* machine_knows(): an event that this machine lacks is no unknown name. */
CPC_TEST(unknown_names_differ_from_missing_events)
{
	/* A preset of PAPI that no CPU of the tables has. */
	static const char lacking[] = "PAPI_csr_tot";
	static const char *const none[] = { "no_such_event", "papi_csr_tot",
		"PAPI_csr_totq", "PAPI_", "0x", "" };
	const struct machine *mc = machine_here();
	struct cpc_event ev;

	(void)cpc;
	EXPECT(!machine_name(mc, lacking, &ev));
	EXPECT(machine_knows(mc, lacking));
	for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++)
		EXPECT(!machine_knows(mc, none[i]));
}

/* The table's name of the event retired instructions, or NULL. */
static const char *
instructions_name(cpc_t *cpc)
{
	static const char *const names[] = { "INSTRUCTION_RETIRED",
		"INST_RETIRED", "INST_RETIRED:ANY_P", "RETIRED_INSTRUCTIONS" };

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		cpc_set_t *set = cpc_set_create(cpc);
		bool has = try_add(cpc, set, names[i], BOTH) == 0;

		cpc_set_destroy(cpc, set);
		if (has)
			return names[i];
	}
	return NULL;
}

/* `:u` and `:k` override the request's flags. */
CPC_TEST(modifiers_choose_the_privilege)
{
	const char *name = instructions_name(cpc);
	char text[80];

	NEEDS_TABLE();
	REQUIRE(name != NULL);
	for (unsigned i = 0; i < 2; i++) {
		static const struct {
			const char *suffix;
			uint_t flags, other;
		} levels[] = {
			{ ":u", CPC_COUNT_USER, CPC_COUNT_SYSTEM },
			{ ":k", CPC_COUNT_SYSTEM, CPC_COUNT_USER },
		};
		cpc_set_t *set = cpc_set_create(cpc);
		uint64_t value[2] = { 0 };

		snprintf(text, sizeof text, "%s%s", name, levels[i].suffix);
		add_flags(cpc, set, INS_EVENT, levels[i].flags);
		EXPECT_EQ(try_add(cpc, set, text, levels[i].other), 1);
		if (count_both(cpc, set, value))
			EXPECT_EQ(value[1], value[0]);
		cpc_set_destroy(cpc, set);
	}
}

/*
 * Modifiers of a name act as attributes.  In the emulator at most one
 * instruction completes in a cycle: `c=2` counts no cycle, and `c=2:i` counts
 * cycles.  A CPU whose INST_RETIRED has one PIC, as Sapphire Rapids, counts
 * the plain name with attributes on another PIC.
 */
CPC_TEST(modifiers_are_attributes)
{
	static const char *const names[] = { "INSTRUCTION_RETIRED",
		"INST_RETIRED:ANY_P", "RETIRED_INSTRUCTIONS" };
	const char *plain = instructions_name(cpc);
	unsigned tested = 0;

	NEEDS_TABLE();
	for (unsigned i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
		cpc_set_t *set = cpc_set_create(cpc);
		cpc_attr_t attrs[] = { { "cmask", 2 }, { "inv", i & 1 } };
		uint64_t value[2] = { 0 };
		char text[80];

		snprintf(text, sizeof text, "%s:c=2%s", names[i / 2],
		    (i & 1) != 0 ? ":i" : "");
		if (try_add(cpc, set, text, BOTH) == 0 &&
		    can_bind(cpc, names[i / 2])) {
			EXPECT_EQ(cpc_set_add_request(
				      cpc, set, plain, 0, BOTH, 2, attrs),
			    1);
			if (count_both(cpc, set, value)) {
				EXPECT_EQ(value[1], value[0]);
				EXPECT((value[0] != 0) == (i & 1));
			}
			tested++;
		}
		cpc_set_destroy(cpc, set);
	}
	if (tested == 0)
		SKIP("no event name of this CPU takes a counter mask");
}

static bool models_listed; /* the emulator lists the events that it models */

static void
binds_or_reads_0(void *arg, const char *name)
{
	cpc_t *cpc = arg;
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_reqinfo_t info;

	EXPECT_EQ(try_add(cpc, set, name, BOTH), 0);
	if (EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0) &&
	    EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0)) {
		spin(100);
		if (!emulator_models(info.ri_code) &&
		    (!EXPECT(!models_listed) ||
			!EXPECT_EQ(sampled(cpc, set, 0), 0)))
			test_note("event: %s, code %#llx", name,
			    (unsigned long long)info.ri_code);
	}
	cpc_set_destroy(cpc, set);
}

/*
 * CPC-QRY-14: every listed event binds.  If the emulator lists the events that
 * it models, the walk names no others.  Otherwise events that it does not
 * model read 0.
 */
CPC_TEST(every_listed_event_binds)
{
	models_listed = emulator_lists();
	cpc_walk_events_all(cpc, cpc, binds_or_reads_0);
	cpc_walk_generic_events_all(cpc, cpc, binds_or_reads_0);
}

/* An event by number: libcpc's with attributes, and perf's, as `r4c`. */
struct by_code {
	char event[16], perf[24];
	cpc_attr_t attrs[4];
	uint_t nattrs;
};

#ifdef __aarch64__
static struct by_code
code_of(uint64_t code)
{
	struct by_code bc = { .nattrs = 0 };

	snprintf(bc.event, sizeof bc.event, "%#llx",
	    (unsigned long long)code & 0xffff);
	snprintf(bc.perf, sizeof bc.perf, "r%llx",
	    (unsigned long long)code & 0xffff);
	return bc;
}
#else
static void
attr_add(struct by_code *bc, const char *name, uint64_t value)
{
	if (value != 0)
		bc->attrs[bc->nattrs++] = (cpc_attr_t){ (char *)name, value };
}

static struct by_code
code_of(uint64_t code)
{
	struct by_code bc = { .nattrs = 0 };

	code = general_code(code);
	snprintf(bc.event, sizeof bc.event, "%#llx",
	    (unsigned long long)((code >> 24 & 0xf00) | (code & 0xff)));
	snprintf(bc.perf, sizeof bc.perf, "r%llx",
	    (unsigned long long)code & 0xfff84ffffULL);
	attr_add(&bc, "umask", code >> 8 & 0xff);
	attr_add(&bc, "edge", code >> 18 & 1);
	attr_add(&bc, "inv", code >> 23 & 1);
	attr_add(&bc, "cmask", code >> 24 & 0xff);
	return bc;
}
#endif

static unsigned compared_by_code;

/* A name and another spelling of the event count a loop the same. */
static void
expect_same_count(cpc_t *cpc, const char *name, const char *other,
    uint_t nattrs, cpc_attr_t *attrs)
{
	cpc_set_t *set = cpc_set_create(cpc);
	uint64_t value[2] = { 0 };

	add_flags(cpc, set, name, BOTH);
	EXPECT_EQ(
	    cpc_set_add_request(cpc, set, other, 0, BOTH, nattrs, attrs), 1);
	if (count_both(cpc, set, value)) {
		compared_by_code++;
		if (!EXPECT_EQ(value[1], value[0]))
			test_note("events: %s and %s", name, other);
	}
	cpc_set_destroy(cpc, set);
}

static void
compare_name_with_code(void *arg, const char *name)
{
	cpc_t *cpc = arg;
	cpc_set_t *set = set_of(cpc, name);
	cpc_reqinfo_t info;

	if (!EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0))
		return;
	EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	cpc_set_destroy(cpc, set);
	if (!emulator_models(info.ri_code))
		return;
	struct by_code bc = code_of(info.ri_code);
	expect_same_count(cpc, name, bc.event, bc.nattrs, bc.attrs);
	expect_same_count(cpc, name, bc.perf, 0, NULL);
}

/* CPC-EVT-03, for each event that can occur here. */
CPC_TEST(a_name_counts_what_its_code_does)
{
	if (software_pmu)
		SKIP("the named events of a software PMU have no raw codes");
	/* Then only events of time are left, which two PICs count unequally. */
	NEEDS_INSTRUCTIONS();
	compared_by_code = 0;
	cpc_walk_events_all(cpc, cpc, compare_name_with_code);
	cpc_walk_generic_events_all(cpc, cpc, compare_name_with_code);
	printf("# %u spellings compared\n", compared_by_code);
	EXPECT(compared_by_code >= 8);
}
