/*
 * PAPI's presets on this CPU.  Each preset has the code and the count of its
 * native event and takes no attribute.  If this CPU lacks a preset, the
 * error's text says why.
 *
 * Two requests of one set that count the same event get the same count of a
 * loop: no tolerance.
 */
#include <stdio.h>
#include <string.h>

#include "payloads/common/target.h"
#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(32);

#define LOOPS 5000
#define BOTH  (CPC_COUNT_USER | CPC_COUNT_SYSTEM)

#define SAMPLING_UMASK 0x400

/* The table of this CPU.  Without one, es_pmu is NULL. */
static struct events
cpu_table(void)
{
	const char *cpu = target_cpu();

	return cpu != NULL ? events_find(target_tables(), cpu)
	                   : (struct events){ NULL, NULL };
}

static int
try_add(cpc_t *cpc, cpc_set_t *set, const char *event)
{
	return cpc_set_add_request(cpc, set, event, 0, BOTH, 0, NULL);
}

/* The code of the event in a set of its own. */
static uint64_t
code_of(cpc_t *cpc, const char *name)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_reqinfo_t info = { 0 };

	if (EXPECT_EQ(try_add(cpc, set, name), 0) &&
	    EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0))
		EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	else
		test_note("event: %s", name);
	cpc_set_destroy(cpc, set);
	return info.ri_code;
}

static unsigned checked_presets, counted_presets;

/* The preset and its native event have the same code and count the same. */
static void
compare_with_native(void *arg, const char *preset)
{
	struct events es = cpu_table();
	cpc_t *cpc = arg;
	struct event_spec sp;
	uint64_t value[2] = { 0 }, own, theirs;
	char native[256];

	/* The architectural events define it, not the CPU's table. */
	if (events_parse(&es, preset, EVENT_EITHER_CASE, &sp) != EVENT_OK)
		return;
	events_short(&es, &sp, native, sizeof native);
	checked_presets++;
	/* An alias with another code, such as Sandy Bridge's LLC_REFERENCES. */
	if (sp.spc_row->er_alias != 0)
		return;
	/* The emulator does not model every native event. */
	if (!can_bind(cpc, native))
		return;
	own = general_code(code_of(cpc, preset));
	theirs = general_code(code_of(cpc, native));
	/* Sandy Bridge: the table has only the mask of precise sampling. */
	if (theirs == (own | SAMPLING_UMASK) && own != theirs)
		return;
	if (!EXPECT_EQ(own, theirs))
		test_note("events: %s, %s", preset, native);
	cpc_set_t *set = cpc_set_create(cpc);
	EXPECT_EQ(try_add(cpc, set, preset), 0);
	EXPECT_EQ(try_add(cpc, set, native), 1);
	/* The bind fails if only one PIC can count the event. */
	if (cpc_bind_curlwp(cpc, set, 0) == 0) {
		spin_counted(cpc, set, LOOPS, value);
		if (!EXPECT_EQ(value[0], value[1]))
			test_note("events: %s, %s", preset, native);
		counted_presets += value[0] >= LOOPS;
	}
	cpc_set_destroy(cpc, set);
}

/* CPC-EVT-01, CPC-QRY-14: at least cycles and instructions count. */
CPC_TEST(a_preset_counts_what_its_event_does)
{
	if (cpu_table().es_pmu == NULL)
		SKIP("there is no table of this CPU's events");
	checked_presets = counted_presets = 0;
	cpc_walk_generic_events_all(cpc, cpc, compare_with_native);
	printf("# %u presets compared, %u count the loop\n", checked_presets,
	    counted_presets);
	EXPECT(checked_presets >= 2);
	EXPECT(counted_presets >= 2);
}

static void
takes_no_attribute(void *arg, const char *preset)
{
	cpc_attr_t umask = { "umask", 1 };
	cpc_t *cpc = arg;
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT_EQ(cpc_set_add_request(cpc, set, preset, 0, BOTH, 1, &umask), 0);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
	cpc_set_destroy(cpc, set);
}

static void
note_umask(void *arg, const char *attr)
{
	*(bool *)arg |= strcmp(attr, "umask") == 0;
}

/* CPC-BIND-15 */
CPC_TEST(presets_take_no_attribute)
{
	bool has_umask = false;

	cpc_walk_attrs(cpc, &has_umask, note_umask);
	if (!has_umask)
		SKIP("this PMU's events have no attributes");
	cpc_walk_generic_events_all(cpc, cpc, takes_no_attribute);
}

static void
note_name(void *arg, const char *name)
{
	snprintf(arg, 32, "%s", name);
}

/* A preset is a whole name, so a modifier makes it unknown. */
CPC_TEST(presets_take_no_modifier)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char name[32] = "", text[40];

	cpc_walk_generic_events_all(cpc, name, note_name);
	REQUIRE(*name != '\0');
	snprintf(text, sizeof text, "%s:u", name);
	EXPECT_REPORTED(try_add(cpc, set, text), EINVAL, "cpc_set_add_request",
	    CPC_INVALID_EVENT);
}

/* CPC-REQ-02: the text names the preset and the reason. */
CPC_TEST(a_missing_preset_says_why)
{
	cpc_set_t *set = cpc_set_create(cpc);
	static const char *const missing[] = { "PAPI_l1_tch", "PAPI_l3_stm",
		"PAPI_fnv_ins", "PAPI_csr_tot", "PAPI_l1_tcm", "PAPI_fp_ops" };

	if (cpu_table().es_pmu == NULL)
		SKIP("there is no table of this CPU's events");
	for (unsigned i = 0; i < sizeof missing / sizeof missing[0]; i++) {
		EXPECT_REPORTED(try_add(cpc, set, missing[i]), EINVAL,
		    "cpc_set_add_request", CPC_INVALID_EVENT);
		if (!EXPECT(strstr(test_detail.text, "Unknown event: PAPI ") !=
			    NULL) ||
		    !EXPECT(strstr(test_detail.text, missing[i]) != NULL))
			test_note("text: %s", test_detail.text);
	}
}

/* CPC-REQ-03 */
CPC_TEST(a_preset_in_capitals_gets_a_suggestion)
{
	cpc_set_t *set = cpc_set_create(cpc);

	if (cpu_table().es_pmu == NULL)
		SKIP("there is no table of this CPU's events");
	EXPECT_REPORTED(try_add(cpc, set, "PAPI_TOT_INS"), EINVAL,
	    "cpc_set_add_request", CPC_INVALID_EVENT);
	EXPECT(strcmp(test_detail.text,
		   "Unknown event: did you mean PAPI_tot_ins?\n") == 0);
}
