/* PAPI's presets: each offered one is an event, each other has a reason. */
#include <stdio.h>
#include <string.h>

#include "events/events.h"
#include "events/names/preset.h"
#include "tests/generic.h"
#include "tests/lib/host/test.h"

/* The presets that PAPI 7.0.0 and the architectures map to one event. */
#define OFFERED 1689

static bool
encode_event(const struct events *es, const char *name, struct event_spec *sp,
    struct event_code *ec)
{
	return events_parse(es, name, EVENT_EITHER_CASE, sp) == EVENT_OK &&
	       events_encode(es, sp, ec) == EVENT_OK;
}

/* CPC-EVT-01: the list is closed, sorted, and in lower case. */
TEST(names_are_the_closed_list)
{
	const char *name;

	for (unsigned i = 0; i < EVENT_PRESETS; i++) {
		name = event_preset_names[i];
		assert_true(is_generic(name));
		assert_true(
		    i == 0 || strcmp(event_preset_names[i - 1], name) < 0);
	}
}

/* Some PIC of the PMU counts the event.  NetBurst's PICs are unknown. */
static bool
has_pic(const struct event_pmu *ep, event_pics_t pics)
{
	event_pics_t general = (1ULL << ep->ep_npic) - 1;
	event_pics_t fixed = (1ULL << ep->ep_nfixed) - 1;

	return ep->ep_kind == EVENT_NETBURST ||
	       (pics & (general | fixed << 32)) != 0;
}

/* An offered preset resolves, in the walk's order, and equals its event. */
static unsigned
check_offered(const struct events *es)
{
	struct event_spec sp, as_event;
	struct event_code ec, other;
	char name[32], last[32] = "", text[256];
	unsigned n = 0, offered = 0;

	for (; events_next_preset(es, &n, name, sizeof name); offered++) {
		assert_true(strcmp(last, name) < 0);
		strcpy(last, name);
		assert_true(event_preset_number(name, EVENT_EITHER_CASE) >= 0);
		if (!encode_event(es, name, &sp, &ec))
			fail_msg("%s: %s", es->es_pmu->ep_name, name);
		assert_true(sp.spc_preset);
		if (!has_pic(es->es_pmu, ec.ec_pics))
			fail_msg(
			    "%s: no PIC counts %s", es->es_pmu->ep_name, name);
		events_parse(es, name, EVENT_EITHER_CASE, &sp);
		events_short(es, &sp, text, sizeof text);
		if (!encode_event(es, text, &as_event, &other))
			fail_msg("%s: %s is no event", name, text);
		assert_false(as_event.spc_preset);
		/* Sandy Bridge: its code is another name's (see tables.c). */
		if (sp.spc_row->er_alias != 0)
			continue;
		assert_int_equal(other.ec_select, ec.ec_select);
		assert_int_equal(other.ec_extra_value, ec.ec_extra_value);
		assert_int_equal(other.ec_pics, ec.ec_pics);
	}
	return offered;
}

/* CPC-QRY-14 */
TEST(every_preset_offered_is_an_event)
{
	unsigned n, offered = 0;
	struct events es;

	for (n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL; n++)
		offered += check_offered(&es);
	assert_int_equal(offered, OFFERED);
}

/* CPC-QRY-12, on every CPU. */
TEST(every_pmu_has_instructions_and_cycles)
{
	struct event_spec sp;
	struct event_code ec;
	struct events es;

	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		assert_true(encode_event(&es, "PAPI_tot_ins", &sp, &ec));
		assert_true(encode_event(&es, "PAPI_tot_cyc", &sp, &ec));
	}
}

/* Each reason is one line that names existing events. */
TEST(every_refusal_has_its_reason)
{
	char name[32], text[512];
	struct event_spec sp;
	struct events es;
	size_t len;

	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		for (unsigned i = 0; i < EVENT_PRESETS; i++) {
			snprintf(name, sizeof name, "PAPI_%s",
			    event_preset_names[i]);
			if (events_parse(&es, name, EVENT_EITHER_CASE, &sp) ==
			    EVENT_OK)
				continue;
			len = events_preset_why(&es, name, text, sizeof text);
			assert_in_range(len, 20, sizeof text - 1);
			assert_int_equal(strncmp(text, "PAPI ", 5), 0);
			assert_non_null(strstr(text, name));
			assert_non_null(strstr(text, es.es_pmu->ep_name));
			assert_null(strchr(text, '\n'));
		}
	}
}

static void
assert_why(const char *cpu, const char *name, const char *want)
{
	struct events es = events_find(event_dbs, cpu);
	struct event_spec sp;
	char text[512];

	assert_int_equal(
	    events_parse(&es, name, EVENT_EITHER_CASE, &sp), EVENT_NO_PRESET);
	events_preset_why(&es, name, text, sizeof text);
	assert_string_equal(text, want);
}

/* CPC-REQ-02, CPC-REQ-03 */
TEST(a_refusal_says_what_to_do)
{
	assert_why("skl", "PAPI_l1_tcm",
	    "PAPI derives PAPI_l1_tcm on skl from L1D:REPLACEMENT and "
	    "L2_RQSTS:ALL_CODE_RD: ask for these");
	assert_why("skl", "PAPI_L1_TCM",
	    "PAPI derives PAPI_l1_tcm on skl from L1D:REPLACEMENT and "
	    "L2_RQSTS:ALL_CODE_RD: ask for these");
	assert_why("skl", "PAPI_l1_icm",
	    "PAPI maps PAPI_l1_icm on skl to L2_RQSTS:ALL_CODE_RD, which is "
	    "of another level of cache: ask for that name");
	assert_why("hsw", "PAPI_stl_ccy",
	    "PAPI maps PAPI_stl_ccy on hsw to UOPS_RETIRED:ALL:i=1:c=1, which "
	    "counts micro-ops, not instructions: ask for that name");
	assert_why("arm_a64fx", "PAPI_br_ins",
	    "PAPI maps PAPI_br_ins on arm_a64fx to BR_PRED, which counts what "
	    "is executed, retired or not: ask for that name");
	assert_why("amd64_k7", "PAPI_l1_tch",
	    "PAPI derives PAPI_l1_tch on amd64_k7 from DATA_CACHE_ACCESSES, "
	    "INSTRUCTION_CACHE_FETCHES, DATA_CACHE_MISSES and "
	    "INSTRUCTION_CACHE_MISSES: ask for these");
	assert_why("icl", "PAPI_l1_dcm",
	    "PAPI has no PAPI_l1_dcm on icl: `list PAPI_` has those there "
	    "are");
	assert_why("skl", "PAPI_L1_DCM", "did you mean PAPI_l1_dcm?");
	assert_why("skl", "papi_tot_cyc", "did you mean PAPI_tot_cyc?");
	assert_why("skl", "PAPI_tot_in", "did you mean PAPI_tot_ins?");
	assert_why("skl", "PAPI_", "PAPI has no such preset");
	assert_why("skl", "PAPI_tot_ins:u", "did you mean PAPI_tot_ins?");
}

static uint64_t
code_of(const char *cpu, const char *name)
{
	struct events es = events_find(event_dbs, cpu);
	struct event_spec sp;
	struct event_code ec;

	if (!encode_event(&es, name, &sp, &ec))
		fail_msg("%s: %s is not an event", cpu, name);
	return ec.ec_select;
}

/* One preset of each kind, compared with the vendors' manuals. */
TEST(codes_match_the_manuals)
{
	assert_int_equal(code_of("skl", "PAPI_l1_dcm"), 0x530151);
	assert_int_equal(code_of("nhm", "PAPI_l1_dcr"), 0x530f40);
	/* Intel's list gives the name of this another code. */
	assert_int_equal(code_of("nhm", "PAPI_br_ins"), 0x5300c4);
	/* PAPI's unit masks together are one event of AMD's. */
	assert_int_equal(code_of("zen1", "PAPI_tlb_dm"), 0x53ff45);
	assert_int_equal(code_of("zen3", "PAPI_tlb_dm"), 0x53ff45);
	assert_int_equal(code_of("icx", "PAPI_br_cn"), 0x5311c4);
	assert_int_equal(
	    code_of("amd64_fam15h_interlagos", "PAPI_tlb_tl"), 0x537746);
	/* The former name of the same preset. */
	assert_int_equal(
	    code_of("amd64_fam15h_interlagos", "PAPI_tlb_tm"), 0x537746);
	assert_int_equal(code_of("arm_a64fx", "PAPI_lst_ins"), 0x8000072);
	assert_int_equal(code_of("neoverse_n1", "PAPI_l2_dcm"), 0x8000017);
}
