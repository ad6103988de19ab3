/*
 * PAPI's presets: names that mean the same on any CPU.  The table of a PMU
 * says which event a preset is there.
 */
#include "events/names/preset.h"

#include "events/names/text.h"

const char event_preset_names[EVENT_PRESETS][EVENT_PRESET_NAME] = { "br_cn",
	"br_ins", "br_msp", "br_ntk", "br_prc", "br_tkn", "br_ucn", "bru_idl",
	"btac_m", "ca_cln", "ca_inv", "ca_itv", "ca_shr", "ca_snp", "csr_fal",
	"csr_suc", "csr_tot", "fad_ins", "fdv_ins", "fma_ins", "fml_ins",
	"fnv_ins", "fp_ins", "fp_ops", "fp_stal", "fpu_idl", "fsq_ins",
	"ful_ccy", "ful_icy", "fxu_idl", "hw_int", "int_ins", "l1_dca",
	"l1_dch", "l1_dcm", "l1_dcr", "l1_dcw", "l1_ica", "l1_ich", "l1_icm",
	"l1_icr", "l1_icw", "l1_ldm", "l1_stm", "l1_tca", "l1_tch", "l1_tcm",
	"l1_tcr", "l1_tcw", "l2_dca", "l2_dch", "l2_dcm", "l2_dcr", "l2_dcw",
	"l2_ica", "l2_ich", "l2_icm", "l2_icr", "l2_icw", "l2_ldm", "l2_stm",
	"l2_tca", "l2_tch", "l2_tcm", "l2_tcr", "l2_tcw", "l3_dca", "l3_dch",
	"l3_dcm", "l3_dcr", "l3_dcw", "l3_ica", "l3_ich", "l3_icm", "l3_icr",
	"l3_icw", "l3_ldm", "l3_stm", "l3_tca", "l3_tch", "l3_tcm", "l3_tcr",
	"l3_tcw", "ld_ins", "lst_ins", "lsu_idl", "mem_rcy", "mem_scy",
	"mem_wcy", "prf_dm", "res_stl", "sr_ins", "stl_ccy", "stl_icy",
	"syc_ins", "tlb_dm", "tlb_im", "tlb_sd", "tlb_tl", "tot_cyc", "tot_iis",
	"tot_ins", "vec_ins" };

static const char prefix[] = "PAPI_";
#define PREFIX (sizeof prefix - 1)

/* Why an event of PAPI's is not exactly the preset; follows its name. */
static const char *const whys[PRESET_WHYS] = {
	[PRESET_EXECUTED] = "counts what is executed, retired or not",
	[PRESET_UOPS] = "counts micro-ops, not instructions",
	[PRESET_OPERATIONS] = "counts operations, not instructions",
	[PRESET_ACCESSES] = "counts accesses",
	[PRESET_LEVEL] = "is of another level of cache",
	[PRESET_MORE] = "counts more than that",
	[PRESET_LESS] = "counts a part of that alone",
	[PRESET_OTHER] = "counts something else",
	[PRESET_TWICE] = "may count one twice",
	[PRESET_REGISTERS] = "needs registers that PAPI does not name",
	[PRESET_MERGED] = "needs two counters merged into one",
};

bool
events_is_preset(const char *name)
{
	size_t i = 0;

	while (i < PREFIX && event_upper(name[i]) == prefix[i])
		i++;
	return i == PREFIX;
}

/* Letters as a number, the first in its highest byte, so that it sorts. */
static uint64_t
letters_value(const char *letters)
{
	uint64_t w;

	__builtin_memcpy(&w, letters, sizeof w);
	return __builtin_bswap64(w);
}

/* The same of a name; 0 if it is too long. */
static uint64_t
name_value(const char *s, enum event_case fold)
{
	char letters[EVENT_PRESET_NAME] = "";

	for (size_t i = 0; s[i] != '\0'; i++) {
		if (i == EVENT_PRESET_NAME - 1)
			return 0;
		letters[i] = fold == EVENT_ANY_CASE ? event_lower(s[i]) : s[i];
	}
	return letters_value(letters);
}

int
event_preset_number(const char *name, enum event_case fold)
{
	int low = 0, high = EVENT_PRESETS, middle;

	for (size_t i = 0; fold != EVENT_ANY_CASE && i < PREFIX; i++) {
		if (name[i] != prefix[i])
			return -1;
	}
	uint64_t wanted = name_value(name + PREFIX, fold);
	/* An older name of the same preset. */
	if (wanted == letters_value("tlb_tm\0"))
		wanted = letters_value("tlb_tl\0");
	while (low < high) {
		middle = (low + high) / 2;
		if (letters_value(event_preset_names[middle]) < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < EVENT_PRESETS &&
	               letters_value(event_preset_names[low]) == wanted
	           ? low
	           : -1;
}

bool
events_preset_exists(const char *name)
{
	return event_preset_number(name, EVENT_EITHER_CASE) >= 0;
}

const struct event_preset *
event_presets_of(const struct events *es, unsigned *n)
{
	*n = es->es_pmu->ep_npreset;
	return (const struct event_preset *)es->es_db->ed_at[SECTION_PRESETS] +
	       es->es_pmu->ep_preset;
}

const struct event_preset *
event_preset_find(const struct events *es, int number)
{
	unsigned low = 0, high, n, middle;
	const struct event_preset *pr = event_presets_of(es, &n);

	for (high = n; low < high;) {
		middle = (low + high) / 2;
		if (pr[middle].pr_preset < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && pr[low].pr_preset == number ? &pr[low] : NULL;
}

static void
add_name(struct text *te, unsigned number)
{
	text_add(te, prefix);
	text_add(te, event_preset_names[number]);
}

bool
events_next_preset(const struct events *es, unsigned *n, char *buf, size_t size)
{
	struct text te = { buf, size, 0 };
	unsigned count;

	if (es->es_pmu == NULL)
		return false;
	const struct event_preset *pr = event_presets_of(es, &count);
	while (*n < count && pr[*n].pr_why != PRESET_EXACT)
		++*n;
	if (*n >= count)
		return false;
	add_name(&te, pr[(*n)++].pr_preset);
	return text_end(&te) < size;
}

/* Add the events of a preset: `A, B and C`. */
static void
add_events(
    struct text *te, const struct events *es, const struct event_preset *pr)
{
	unsigned n, number = pr->pr_preset;
	const struct event_preset *end = event_presets_of(es, &n);
	struct event_spec sp;
	char name[256];

	for (end += n; pr < end && pr->pr_preset == number; pr++) {
		event_preset_spec(es, pr, &sp);
		events_short(es, &sp, name, sizeof name);
		text_add(te, name);
		if (pr + 1 < end && pr[1].pr_preset == number)
			text_add(te, pr + 2 < end && pr[2].pr_preset == number
					 ? ", "
					 : " and ");
	}
}

static void
add_why(struct text *te, const struct events *es, const struct event_preset *pr)
{
	bool derived = pr->pr_why == PRESET_DERIVED;

	text_add(te, derived ? "PAPI derives " : "PAPI maps ");
	add_name(te, pr->pr_preset);
	text_add(te, " on ");
	text_add(te, es->es_pmu->ep_name);
	text_add(te, derived ? " from " : " to ");
	add_events(te, es, pr);
	if (!derived) {
		text_add(te, ", which ");
		text_add(te, whys[pr->pr_why]);
	}
	text_add(te, derived ? ": ask for these" : ": ask for that name");
}

/* Add why a preset that the table has was refused. */
static void
add_lost(struct text *te, const struct event_preset *pr, const char *name)
{
	if (event_preset_number(name, EVENT_EITHER_CASE) < 0) {
		text_add(te, "did you mean ");
		add_name(te, pr->pr_preset);
		text_char(te, '?');
	} else {
		text_add(te, "this machine lacks the event that it is");
	}
}

size_t
events_preset_why(
    const struct events *es, const char *name, char *buf, size_t size)
{
	struct text te = { buf, size, 0 };
	int number = event_preset_number(name, EVENT_ANY_CASE);
	const struct event_preset *pr = NULL;
	char near[EVENT_MAXNAME];

	if (es->es_pmu != NULL)
		pr = event_preset_find(es, number);
	if (es->es_pmu == NULL) {
		if (number >= 0)
			text_add(&te, "no table says which event of this CPU "
				      "that is");
	} else if (pr != NULL && pr->pr_why == PRESET_EXACT) {
		add_lost(&te, pr, name);
	} else if (pr != NULL) {
		add_why(&te, es, pr);
	} else if (number >= 0) {
		text_add(&te, "PAPI has no ");
		add_name(&te, (unsigned)number);
		text_add(&te, " on ");
		text_add(&te, es->es_pmu->ep_name);
		text_add(&te, ": `list PAPI_` has those there are");
	} else if (events_suggest(es, name, near, sizeof near)) {
		text_add(&te, "did you mean ");
		text_add(&te, near);
		text_char(&te, '?');
	} else {
		text_add(&te, "PAPI has no such preset");
	}
	return text_end(&te);
}
