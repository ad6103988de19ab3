/* The tables of event names are complete; walks, lookups, encodings agree. */
#include <stdio.h>
#include <string.h>

#include "events/events.h"
#include "events/pmu.h"
#include "tests/lib/host/test.h"

#define NAME 256

/* events/vendors/ has 49, 6 and 45 PMUs; libpfm4 4.13 21 of x86 and 2 more. */
#define PMUS (49 + 6 + 45 + 21 + 2)
/* The names of these PMUs, without modifiers or second unit masks. */
#define NAMES 39660

static bool
encode_event(const struct events *es, const char *name, enum event_case fold,
    struct event_spec *sp, struct event_code *ec)
{
	return events_parse(es, name, fold, sp) == EVENT_OK &&
	       events_encode(es, sp, ec) == EVENT_OK;
}

static void
must_encode(const struct events *es, const char *name, struct event_spec *sp,
    struct event_code *ec)
{
	if (!encode_event(es, name, EVENT_ANY_CASE, sp, ec))
		fail_msg("%s::%s is refused", es->es_pmu->ep_name, name);
}

static bool
same_code(const struct event_code *a, const struct event_code *b)
{
	return a->ec_select == b->ec_select && a->ec_extra == b->ec_extra &&
	       a->ec_extra_value == b->ec_extra_value &&
	       a->ec_pics == b->ec_pics;
}

TEST(has_every_core_pmu)
{
	struct events es;
	unsigned n;

	for (n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL; n++) {
		struct events found =
		    events_find(event_dbs, es.es_pmu->ep_name);

		assert_ptr_equal(found.es_pmu, es.es_pmu);
		assert_true(es.es_pmu->ep_nrow > 0);
	}
	assert_int_equal(n, PMUS);
}

/* The tables of all vendors are small enough for every image. */
TEST(all_fit_in_720_kib)
{
	unsigned long bytes = 0;

	for (unsigned v = 0; v < EVENT_VENDORS; v++) {
		for (unsigned s = 0; s < SECTION_N; s++)
			bytes += event_dbs[v]->ed_bytes[s];
	}
	print_message("%lu bytes\n", bytes);
	assert_in_range(bytes, 1, 720 * 1024 - 1);
}

/* Is the text a name of a row or a unit mask? */
static bool
is_used(const struct event_db *db, size_t name)
{
	const struct event_row *row = db->ed_at[SECTION_ROWS];
	const struct event_umask *um = db->ed_at[SECTION_UMASKS];

	for (size_t n = 0; n < db->ed_bytes[SECTION_ROWS] / sizeof *row; n++) {
		if (row[n].er_name == name)
			return true;
	}
	for (size_t n = 0; n < db->ed_bytes[SECTION_UMASKS] / sizeof *um; n++) {
		if (um[n].um_name == name)
			return true;
	}
	return false;
}

/* Committed tables hold facts alone: no descriptions, only names. */
TEST(hold_no_descriptions)
{
	const struct event_db *db;
	const char *names;
	size_t end;

	for (unsigned v = 0; v < EVENT_VENDORS; v++) {
		db = event_dbs[v];
		names = db->ed_at[SECTION_NAMES];
		for (unsigned s = SECTION_FACTS; s < SECTION_N; s++)
			assert_int_equal(db->ed_bytes[s], 0);
		end = db->ed_bytes[SECTION_NAMES];
		for (size_t at = 1; at < end; at += strlen(names + at) + 1) {
			assert_null(strchr(names + at, ' '));
			/* Zeros follow a name up to the next one's place. */
			if (names[at] == '\0')
				continue;
			assert_int_equal(at % EVENT_NAME_ALIGN, 0);
			assert_true(is_used(db, at / EVENT_NAME_ALIGN));
		}
	}
}

static void
check_umasks(const struct events *es, const struct event_row *row)
{
	const struct event_umask *um;
	const char *name;

	for (unsigned i = 0; i < row->er_nlist; i++) {
		if ((um = events_umask(es, row, i)) == NULL)
			continue;
		name = events_text(es, um->um_name);
		/* A lookup finds the first: there is no second. */
		assert_int_equal(events_umask_find(es, row, name), i);
		assert_in_range(um->um_group & 0xf, 0, row->er_ngroup - 1);
	}
}

/* Rows are complete, sorted and unique. */
TEST(rows_are_complete)
{
	const struct event_row *row, *last;
	struct events es;
	const char *name;
	unsigned n, i;

	for (n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL; n++) {
		last = NULL;
		for (i = 0; i < es.es_pmu->ep_nrow; i++) {
			if ((row = events_nth_row(&es, i)) == NULL)
				continue;
			name = events_text(&es, row->er_name);
			assert_true(
			    last == NULL ||
			    strcmp(events_text(&es, last->er_name), name) < 0);
			assert_ptr_equal(events_row(&es, name), row);
			assert_true(events_pics(&es, row->er_pics) != 0);
			check_umasks(&es, row);
			last = row;
		}
	}
}

/* Walks use flags that say which names are valid alone; they are right. */
TEST(flags_are_right)
{
	const struct event_row *row;
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	char name[NAME];
	unsigned n, i, u;

	for (n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL; n++) {
		for (i = 0; i < es.es_pmu->ep_nrow; i++) {
			if ((row = events_nth_row(&es, i)) == NULL)
				continue;
			snprintf(name, sizeof name, "%s",
			    events_text(&es, row->er_name));
			if ((row->er_flags & ER_BARE) != 0)
				must_encode(&es, name, &sp, &ec);
			for (u = 0; u < row->er_nlist; u++) {
				const struct event_umask *um =
				    events_umask(&es, row, u);

				if (um == NULL ||
				    !events_umask_alone(&es, row, u))
					continue;
				snprintf(name, sizeof name, "%s:%s",
				    events_text(&es, row->er_name),
				    events_text(&es, um->um_name));
				must_encode(&es, name, &sp, &ec);
			}
		}
	}
}

/* The same name in lower case with dots, as vendors write it. */
static void
check_spellings(
    const struct events *es, const char *name, const struct event_code *ec)
{
	struct event_spec sp;
	struct event_code other;
	char text[NAME];
	bool mixed = false;

	for (size_t i = 0; i <= strlen(name); i++) {
		text[i] = name[i] >= 'A' && name[i] <= 'Z'
		              ? (char)(name[i] - 'A' + 'a')
		          : name[i] == ':' ? '.'
		                           : name[i];
		mixed |= i > 0 && text[i] != name[i] && text[i] != '.';
	}
	assert_true(encode_event(es, text, EVENT_EITHER_CASE, &sp, &other));
	assert_true(same_code(ec, &other));
	/* A name in mixed case is unknown. */
	if (mixed) {
		text[0] = name[0];
		if (text[0] >= 'A' && text[0] <= 'Z')
			assert_int_equal(
			    events_parse(es, text, EVENT_EITHER_CASE, &sp),
			    EVENT_UNKNOWN);
	}
}

/* The canonical name of an encoded event encodes to the same code. */
static void
check_canonical(
    const struct events *es, struct event_spec *sp, const struct event_code *ec)
{
	struct event_code again;
	struct event_spec other;
	char text[512];
	const char *name;

	/*
	 * Sandy Bridge's LLC_MISSES is an alias of LAST_LEVEL_CACHE_MISSES,
	 * 412EH.  That name is an alias of L3_LAT_CACHE:MISS, 12EH.
	 * LLC_REFERENCES is similar.
	 */
	if (sp->spc_row->er_alias != 0)
		return;
	assert_in_range(events_canonical(es, sp, ec, text, sizeof text), 1,
	    sizeof text - 1);
	name = strstr(text, "::") + 2;
	if (!encode_event(es, name, EVENT_EITHER_CASE, &other, &again))
		fail_msg("%s is refused", name);
	if (!same_code(ec, &again))
		fail_msg("%s is another event", name);
	/* The same with the PMU's name as a prefix. */
	if (!encode_event(es, text, EVENT_EITHER_CASE, &other, &again) ||
	    !same_code(ec, &again))
		fail_msg("%s is refused, or another", text);
}

TEST(every_walked_name_encodes)
{
	unsigned n, names = 0;
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	char name[NAME];

	for (n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL; n++) {
		struct event_walk ew = { 0 };

		while (events_next(&es, &ew, ~0ULL, name, sizeof name)) {
			must_encode(&es, name, &sp, &ec);
			assert_true(ec.ec_pics != 0);
			check_spellings(&es, name, &ec);
			check_canonical(&es, &sp, &ec);
			names++;
		}
	}
	assert_int_equal(names, NAMES);
}

/*
 * A fixed PIC counts one event of the manual.  Event 00H is the code of what
 * fixed PICs alone count: no general PIC has it, except KNC's, which has no
 * fixed PICs.  Intel SDM vol. 3B, "Fixed-function Performance Counter".
 */
TEST(pics_count_their_events)
{
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	char name[NAME];

	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		const struct event_pmu *ep = es.es_pmu;
		struct event_walk ew = { 0 };

		while (ep->ep_kind == EVENT_INTEL && ep->ep_nfixed != 0 &&
		       events_next(&es, &ew, ~0ULL, name, sizeof name)) {
			must_encode(&es, name, &sp, &ec);
			uint64_t code = ec.ec_select & 0xffff;
			uint64_t general = (uint32_t)ec.ec_pics;
			for (uint64_t fixed = ec.ec_pics >> 32; fixed != 0;
			     fixed &= fixed - 1) {
				unsigned f = (unsigned)__builtin_ctzll(fixed);

				if (!intel_fixed_tabled(f, code))
					fail_msg("%s::%s: fixed PIC %u and "
						 "code %#llx",
					    ep->ep_name, name, f,
					    (unsigned long long)code);
			}
			if (general >> ep->ep_npic != 0 ||
			    (general != 0 && (code & 0xff) == 0))
				fail_msg("%s::%s: code %#llx on general PICs "
					 "%#llx of %u",
				    ep->ep_name, name, (unsigned long long)code,
				    (unsigned long long)general, ep->ep_npic);
		}
	}
}

/*
 * Fixed PIC 2 counts the cycles of the TSC, and general PICs the other cycles.
 * The codes are those of Intel's own lists (github.com/intel/perfmon, ICL, ICX,
 * TGL, RKL, SPR, SLM, SNR), as are the numbers of general PICs.
 */
TEST(cycles_are_what_intel_says)
{
	static const struct {
		const char *pmu, *name;
		unsigned npic, code;
		uint64_t pics;
	} has[] = {
		{ "icl", "CPU_CLK_UNHALTED.REF_TSC", 8, 0x300, 4ULL << 32 },
		{ "icx", "CPU_CLK_UNHALTED.REF_TSC", 8, 0x300, 4ULL << 32 },
		{ "tgl", "CPU_CLK_UNHALTED.REF_TSC", 8, 0x300, 4ULL << 32 },
		{ "rkl", "CPU_CLK_UNHALTED.REF_TSC", 8, 0x300, 4ULL << 32 },
		{ "spr", "CPU_CLK_UNHALTED.REF_TSC", 8, 0x300, 4ULL << 32 },
		{ "emr", "CPU_CLK_UNHALTED.REF_TSC", 8, 0x300, 4ULL << 32 },
		{ "tmt", "CPU_CLK_UNHALTED.REF_TSC", 4, 0x300, 4ULL << 32 },
		{ "icl", "CPU_CLK_UNHALTED.REF_XCLK", 8, 0x13c, 0xff },
		{ "icl", "CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", 8, 0x23c, 0xff },
		{ "icx", "CPU_CLK_UNHALTED.DISTRIBUTED", 8, 0x2ec, 0xff },
		{ "tgl", "CPU_CLK_UNHALTED.REF_DISTRIBUTED", 8, 0x83c, 0xff },
		{ "slm", "CPU_CLK_UNHALTED.REF", 2, 0x13c, 0x3 },
		{ "tmt", "CPU_CLK_UNHALTED.REF", 4, 0x13c, 0xf },
		{ "knl", "CPU_CLK_UNHALTED.REF", 2, 0x13c, 0x3 },
	};
	struct event_spec sp;
	struct event_code ec;

	for (size_t i = 0; i < sizeof has / sizeof has[0]; i++) {
		struct events es = events_find(event_dbs, has[i].pmu);

		assert_int_equal(es.es_pmu->ep_npic, has[i].npic);
		assert_int_equal(
		    encode_event(&es, has[i].name, EVENT_EITHER_CASE, &sp, &ec),
		    true);
		assert_int_equal(ec.ec_select & 0xffff, has[i].code);
		assert_int_equal(ec.ec_pics, has[i].pics);
	}
}

/* cpc_walk_events_pic(): the names of a PIC are those that it can count. */
TEST(walks_of_a_pic_follow_the_masks)
{
	char all[NAME], some[NAME];
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	unsigned n, pic;
	bool more;

	for (n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL; n++) {
		for (pic = 0; pic < 64; pic++) {
			struct event_walk ew = { 0 }, ep = { 0 };

			more = events_next(
			    &es, &ep, 1ULL << pic, some, sizeof some);
			while (events_next(&es, &ew, ~0ULL, all, sizeof all)) {
				assert_true(encode_event(
				    &es, all, EVENT_EITHER_CASE, &sp, &ec));
				if ((ec.ec_pics >> pic & 1) == 0)
					continue;
				assert_true(more);
				assert_string_equal(some, all);
				more = events_next(
				    &es, &ep, 1ULL << pic, some, sizeof some);
			}
			assert_false(more);
		}
	}
}

static const char *
cpu_name(struct events es)
{
	return es.es_pmu != NULL ? es.es_pmu->ep_name : "";
}

TEST(the_cpu_chooses_its_table)
{
	static const struct {
		enum event_kind vendor;
		unsigned family, model, stepping;
		const char *table;
	} cpus[] = {
		{ EVENT_INTEL, 6, 94, 3, "skl" },
		{ EVENT_INTEL, 6, 85, 4, "skx" },
		{ EVENT_INTEL, 6, 85, 7, "clx" },
		{ EVENT_INTEL, 6, 255, 0, "" },
		{ EVENT_INTEL, 11, 1, 0, "knc" },
		{ EVENT_AMD, 0x17, 1, 2, "amd64_fam17h_zen1" },
		{ EVENT_AMD, 0x19, 0x61, 2, "amd64_fam19h_zen4" },
		{ EVENT_AMD, 0xf, 5, 1, "amd64_k8_revb" },
		{ EVENT_AMD, 0x1a, 0, 0, "amd64_fam1ah_zen5" },
		{ EVENT_AMD, 0x1b, 0, 0, "" },
		{ EVENT_INTEL, 6, 0x6c, 0, "icx" }, /* Ice Lake D */
		{ EVENT_INTEL, 6, 0x9c, 0, "ehl" }, /* Jasper Lake */
		/* A hybrid CPU has its P-cores' table. */
		{ EVENT_INTEL, 6, 0x97, 0, "adl_glc" },
		{ EVENT_INTEL, 6, 0x85, 0, "knm" },
		{ EVENT_ARM, 0x41, 0xd08, 0, "arm_ac72" }, /* Raspberry Pi 4 */
		{ EVENT_ARM, 0x41, 0xd0b, 0, "arm_ac76" }, /* Raspberry Pi 5 */
		{ EVENT_ARM, 0x41, 0xd0c, 0, "arm_n1" },
		{ EVENT_ARM, 0, 0xd0c, 0, "" },
	};
	static const char *const names[][2] = {
		{ "neoverse_n1", "arm_n1" },
		{ "Skylake X", "skx" },
		{ "Zen4", "amd64_fam19h_zen4" },
		{ "barcelona", "amd64_fam10h_barcelona" },
		{ "fam19h_zen4", "amd64_fam19h_zen4" },
		{ "ep", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
		assert_string_equal(
		    cpu_name(events_cpu(event_dbs, cpus[i].vendor,
			cpus[i].family, cpus[i].model, cpus[i].stepping)),
		    cpus[i].table);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_string_equal(
		    cpu_name(events_find(event_dbs, names[i][0])), names[i][1]);
}

/* The vendors' lists for Arm say which processors they are about: 45 parts. */
TEST(each_part_has_the_table_of_its_list)
{
	FILE *f = fopen("events/generated/arm.facts", "r");
	char line[1024], name[32];
	unsigned implementer, part, parts = 0;

	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL) {
		if (sscanf(line, "cpu %31s %*s %*s %*x %*x %x-%x", name,
			&implementer, &part) != 3)
			continue;
		assert_string_equal(cpu_name(events_cpu(event_dbs, EVENT_ARM,
					implementer, part, 0)),
		    name);
		parts++;
	}
	fclose(f);
	assert_int_equal(parts, 45);
}

/* A PMU's name before an event must be the name of this PMU. */
TEST(pmu_prefixes_are_checked)
{
	static const char *const none[] = { "skx::INST_RETIRED:ANY_P",
		"SKL::INST_RETIRED:ANY_P", "skl:INST_RETIRED:ANY_P",
		"skl::", "skl::skl::INST_RETIRED:ANY_P",
		"sk::INST_RETIRED:ANY_P", "skl:::INST_RETIRED:ANY_P",
		"::INST_RETIRED:ANY_P", "skl" };
	struct events es = events_find(event_dbs, "skl");
	struct event_spec sp;
	struct event_code ec;

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_int_equal(
		    events_parse(&es, none[i], EVENT_EITHER_CASE, &sp),
		    EVENT_UNKNOWN);
	assert_true(encode_event(
	    &es, "SKL::inst_retired.any_p", EVENT_ANY_CASE, &sp, &ec));
	assert_int_equal(ec.ec_select, 0x5300c0);
}

/* CPC-REQ-02: an unknown name, and a suggestion. */
TEST(suggests_what_is_near)
{
	struct events es = events_find(event_dbs, "skl");
	char text[NAME];

	assert_true(
	    events_suggest(&es, "INST_RETIERD:ANY_P", text, sizeof text));
	assert_string_equal(text, "INST_RETIRED:ANY_P");
	assert_true(
	    events_suggest(&es, "Inst_Retired.Any_p", text, sizeof text));
	assert_string_equal(text, "INST_RETIRED:ANY_P");
	/* If no name is similar, the suggestion is a name that begins so. */
	assert_true(
	    events_suggest(&es, "CYCLE_ACTIVITY:STALLS", text, sizeof text));
	assert_string_equal(text, "CYCLE_ACTIVITY:STALLS_L1D_MISS");
	assert_true(events_suggest(&es, "mem_load", text, sizeof text));
	assert_string_equal(text, "MEM_LOAD_L3_HIT_RETIRED");
	assert_true(
	    events_suggest(&es, "BR_INST_RETIRED:ALL", text, sizeof text));
	assert_string_equal(text, "BR_INST_RETIRED:ALL_BRANCHES");
	assert_false(events_suggest(&es, "no", text, sizeof text));
	assert_false(events_suggest(&es, "no_such_event", text, sizeof text));
	assert_false(events_suggest(&es, "", text, sizeof text));
	assert_false(events_suggest(&es, "INST_RETIERD:ANY_P", text, 8));
}

/* AnyThread: version 3 until Ice Lake and Tremont; TSX from Haswell on. */
TEST(a_core_has_its_modifiers)
{
	static const struct {
		const char *cpu, *name;
		uint64_t code; /* 0: the core lacks the modifier */
	} has[] = {
		{ "slm", "INST_RETIRED.ANY_P:t", 0x7300c0 },
		{ "knm", "INST_RETIRED.ANY_P:t", 0x7300c0 },
		{ "clx", "INST_RETIRED.ANY_P:t", 0x7300c0 },
		{ "tmt", "INST_RETIRED.ANY_P:t", 0 },
		{ "emr", "INST_RETIRED.ANY_P:t", 0 },
		{ "ivb", "INST_RETIRED.ANY_P:intx", 0 },
		{ "hsw", "INST_RETIRED.ANY_P:intx", 0x1005300c0 },
		{ "gnr", "INST_RETIRED.ANY_P:intx", 0x1005300c0 },
		{ "adl_glc", "INST_RETIRED.ANY_P:intx", 0 },
		{ "clx",
		    "OFFCORE_RESPONSE:request=DEMAND_RFO:response="
		    "L3_HIT.ANY_SNOOP:u",
		    0x5101b7 },
		{ "clx",
		    "OFFCORE_RESPONSE:request=DEMAND_RFO:response="
		    "L3_HIT.ANY_SNOOP:c=2:i",
		    0x2d301b7 },
		{ "clx", "OFFCORE_RESPONSE:request=DEMAND_RFO:u", 0 },
	};
	struct event_spec sp;
	struct event_code ec;

	for (size_t i = 0; i < sizeof has / sizeof has[0]; i++) {
		struct events es = events_find(event_dbs, has[i].cpu);

		if (!encode_event(
			&es, has[i].name, EVENT_EITHER_CASE, &sp, &ec))
			ec.ec_select = 0;
		if (ec.ec_select != has[i].code)
			fail_msg("%s: %s: %#llx", has[i].cpu, has[i].name,
			    (unsigned long long)ec.ec_select);
	}
}

/* Any text is refused or encoded. */
TEST(any_text_is_safe)
{
	static const char letters[] = "INST_RETIRED:ANYPu=0x1f.ckeil9 \xff";
	uint64_t seed = 0x9e3779b97f4a7c15;
	struct event_spec sp;
	struct event_code ec;
	struct events es;
	char text[40];

	for (unsigned round = 0; round < 100000; round++) {
		es = events_nth(event_dbs, round % PMUS);
		for (size_t i = 0; i < sizeof text; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			text[i] = letters[seed % sizeof letters];
		}
		text[sizeof text - 1] = '\0';
		encode_event(&es, text, EVENT_ANY_CASE, &sp, &ec);
		/* Random text after an existing event. */
		snprintf(text, 13, "%s", events_text(&es, 1));
		encode_event(&es, text, EVENT_ANY_CASE, &sp, &ec);
	}
}
