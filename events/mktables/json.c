/*
 * Linux's perf JSON: read the lines of perf_json.py, and merge the events into
 * the drafts of libpfm4's tables.
 *
 * Both sources have some names, and mostly agree on them.  If not, the event's
 * decision says which is right: `j` the JSON, `l` libpfm4, `r` none, so that
 * the name is refused.  A line of the report has each of these names.
 */
#include "events/mktables/tables.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "events/events.h"
#include "events/select.h"

#define X86_CONTROL (SEL_EN | SEL_INT | SEL_USR | SEL_OS)
#define ARM_EVENT   0xffffULL

struct json_pmu json_pmu[64];
unsigned json_npmu;
static FILE *report_file;

/* The next field of a line, "" past the last. */
static char *
next_field(char **line)
{
	char *field = strsep(line, "\t\n");

	return field != NULL ? field : "";
}

static uint64_t
next_number(char **line)
{
	return strtoull(next_field(line), NULL, 16);
}

static void
read_pmu(char *line)
{
	struct json_pmu *jp = &json_pmu[json_npmu++];
	char *models, *model, *sources;
	unsigned n = 0;

	if (json_npmu == LENGTH(json_pmu))
		errx(1, "more PMUs than %zu", LENGTH(json_pmu));
	jp->jp_name = next_field(&line);
	jp->jp_base = next_field(&line);
	jp->jp_desc = next_field(&line);
	jp->jp_npic = (int)next_number(&line);
	jp->jp_nfixed = (int)next_number(&line);
	jp->jp_listed = (int)next_number(&line);
	jp->jp_family = (int)next_number(&line);
	sources = next_field(&line);
	jp->jp_sources = (strchr(sources, 'j') != NULL ? PMU_JSON : 0) |
	                 (strchr(sources, 'n') != NULL ? PMU_NEWER : 0);
	models = next_field(&line);
	while ((model = strsep(&models, ",")) != NULL) {
		if (n + 1 == LENGTH(jp->jp_models))
			errx(1, "%s: more models", jp->jp_name);
		jp->jp_models[n++] = (int)strtoul(model, NULL, 16);
	}
}

static void
read_event(char *line)
{
	struct json_pmu *jp = &json_pmu[json_npmu - 1];
	struct json_event *js;

	jp->jp_event = realloc(jp->jp_event, (jp->jp_n + 1) * sizeof *js);
	if (jp->jp_event == NULL)
		err(1, NULL);
	js = &jp->jp_event[jp->jp_n++];
	js->js_event = next_field(&line);
	js->js_umask = next_field(&line);
	js->js_select = next_number(&line);
	js->js_extra = (unsigned)next_number(&line);
	js->js_value = next_number(&line);
	js->js_pics = next_number(&line);
	js->js_decision = *next_field(&line);
}

void
json_read(const char *lines, const char *report)
{
	FILE *f = fopen(lines, "r");
	char text[1024], *line;

	if (f == NULL)
		err(1, "%s", lines);
	if ((report_file = fopen(report, "a")) == NULL)
		err(1, "%s", report);
	while (fgets(text, sizeof text, f) != NULL) {
		if ((line = strdup(text)) == NULL)
			err(1, NULL);
		if (*next_field(&line) == 'P')
			read_pmu(line);
		else
			read_event(line);
	}
	fclose(f);
}

/* The state of merging the events of one PMU of a table. */
struct json_merging {
	const struct family *jm_family;
	const struct table *jm_table;
	struct draft *jm_all;
	unsigned jm_n;
	unsigned jm_pmu; /* its place in the table */
	uint8_t jm_bit;  /* its bit in er_models */
	const struct json_event *jm_js;
	char jm_umask[EVENT_MAXNAME + 1]; /* with `_` for each dot */
};

/* A code of libpfm4's. */
struct code {
	uint64_t co_select, co_extra;
	bool co_is; /* libpfm4 knows the name */
};

static struct code
libpfm4_code(const struct json_merging *me)
{
	const char *pmu = me->jm_table->t_query[me->jm_pmu];
	struct code co = { .co_is = false };
	uint64_t *codes = NULL;
	char text[256];
	int n = 0;

	snprintf(text, sizeof text, "%s::%s%s%s", pmu, me->jm_js->js_event,
	    me->jm_umask[0] != '\0' ? ":" : "", me->jm_umask);
	if (pmu == NULL || pfm_get_event_encoding(text, PFM_PLM0 | PFM_PLM3,
			       NULL, NULL, &codes, &n) != PFM_SUCCESS)
		return co;
	co.co_is = true;
	co.co_select = me->jm_family->f_kind == EVENT_ARM
	                   ? codes[0] & ARM_EVENT
	                   : codes[0] & ~X86_CONTROL;
	co.co_extra = n > 1 ? codes[1] : 0;
	free(codes);
	return co;
}

static bool
agrees(const struct code *co, const struct json_event *js)
{
	return co->co_is && co->co_select == js->js_select &&
	       co->co_extra == js->js_value;
}

static void
report(const struct json_merging *me, const struct code *co)
{
	const struct json_event *js = me->jm_js;

	fprintf(report_file,
	    "%s\t%s%s%s\t%d\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64
	    "\t%c\n",
	    me->jm_table->t_json[me->jm_pmu]->jp_name, js->js_event,
	    js->js_umask[0] != '\0' ? "." : "", js->js_umask, co->co_is,
	    co->co_select, co->co_extra, js->js_select, js->js_value,
	    js->js_decision);
}

/* The number of the event, as er_code has it. */
static uint32_t
event_of(const struct json_merging *me, uint64_t select)
{
	switch (me->jm_family->f_kind) {
	case EVENT_AMD:
		return (
		    uint32_t)((select & SEL_EVENT) | (select >> 32 & 0xf) << 8);
	case EVENT_ARM:
		return (uint32_t)select;
	default:
		return (uint32_t)(select & SEL_EVENT);
	}
}

static uint32_t
event_of_row(const struct json_merging *me, const struct draft *d)
{
	switch (me->jm_family->f_kind) {
	case EVENT_INTEL:
		return d->dr_row.er_code & (uint32_t)SEL_EVENT;
	case EVENT_AMD:
		return d->dr_row.er_code & 0xfff;
	default:
		return d->dr_row.er_code;
	}
}

/* All general PICs of the PMU, or those that the JSON names. */
static uint64_t
pics_of(const struct json_merging *me)
{
	const pfmlib_pmu_t *p = me->jm_table->t_pmu[me->jm_pmu];

	return me->jm_js->js_pics != 0 ? me->jm_js->js_pics
	                               : (1ULL << p->num_cntrs) - 1;
}

/*
 * The PICs of an event that both sources have: the vendor's list is right about
 * them, too.  A list for cores with two threads knows fewer general PICs than
 * the PMU has.  It does not say which of the others count.
 */
static uint64_t
vendors_pics(const struct json_merging *me, uint64_t pics)
{
	const struct json_pmu *jp = me->jm_table->t_json[me->jm_pmu];
	uint64_t theirs = pics_of(me);

	return me->jm_js->js_pics == 0 && (pics & theirs) != 0 &&
	               jp->jp_listed <
	                   me->jm_table->t_pmu[me->jm_pmu]->num_cntrs
	           ? pics
	           : theirs;
}

/*
 * The PICs that count the event select, of an event that a table gives `pics`.
 * A fixed PIC counts one event, for which 00H is a code that no general PIC
 * knows.  Only a PMU without fixed PICs (KNC's) has an event 00H.
 */
static uint64_t
counting_pics(const pfmlib_pmu_t *p, uint64_t pics, uint64_t select)
{
	uint64_t general = (1ULL << p->num_cntrs) - 1, fixed = pics >> 32;

	if (p->num_fixed_cntrs == 0)
		return pics;
	for (unsigned n = 0; n < 32; n++) {
		if (!intel_fixed_tabled(n, select & (SEL_EVENT | SEL_UMASK)))
			fixed &= ~(1ULL << n);
	}
	return ((select & SEL_EVENT) != 0 ? pics & general : 0) | fixed << 32;
}

/* Remove PICs that do not count the event, and names that no PIC counts. */
static void
drop_uncounted(const struct table *t, struct draft *d)
{
	uint64_t code = d->dr_row.er_code, all = d->dr_pics;

	for (unsigned i = 0; i < d->dr_row.er_nlist; i++) {
		struct draft_umask *du = &d->dr_umask[i];
		uint64_t pics = du->du_pics != 0 ? du->du_pics : all;
		uint64_t sel = (du->du_umask.um_flags & UM_WHOLE) != 0
		                   ? code & SEL_EVENT
		                   : code;

		if ((du->du_umask.um_flags & UM_EVENT) != 0)
			sel &= ~SEL_EVENT;
		du->du_pics = counting_pics(
		    t->t_pmu[0], pics, sel | du->du_umask.um_code);
		if (du->du_pics == 0)
			du->du_umask.um_models = 0;
	}
	if (d->dr_row.er_nlist == 0 &&
	    (d->dr_pics = counting_pics(t->t_pmu[0], all, code)) == 0)
		d->dr_row.er_models = 0;
}

static struct draft *
find_draft(const struct json_merging *me, const char *name, size_t len)
{
	for (unsigned i = 0; i < me->jm_n; i++) {
		struct draft *d = &me->jm_all[i];

		if (strncmp(d->dr_name, name, len) == 0 &&
		    d->dr_name[len] == '\0' &&
		    (d->dr_row.er_models & me->jm_bit) != 0)
			return d;
	}
	return NULL;
}

/* The modifiers of a new event: those of libpfm4's events of the PMU. */
static uint16_t
mods_of(const struct json_merging *me)
{
	for (unsigned i = 0; i < me->jm_n; i++) {
		const struct draft *d = &me->jm_all[i];

		if (!d->dr_json && (d->dr_row.er_models & me->jm_bit) != 0 &&
		    (d->dr_row.er_mods >> MOD_C & 1) != 0)
			return d->dr_row.er_mods &
			       (uint16_t) ~(1U << MOD_LDLAT | 1U << MOD_FETHR);
	}
	return (uint16_t)me->jm_family->f_mods;
}

static struct draft *
new_draft(struct json_merging *me, bool bare)
{
	struct draft *d = &me->jm_all[me->jm_n];
	uint64_t select = me->jm_js->js_select;

	*d = (struct draft){
		.dr_row = {
			.er_mods = mods_of(me),
			.er_models = me->jm_bit,
			.er_code = event_of(me, select),
			.er_flags = bare ? ER_BARE : 0,
		},
		.dr_name = me->jm_js->js_event,
		.dr_umask = calloc(MAX_DRAFT_UMASKS, sizeof *d->dr_umask),
		.dr_json = true,
		.dr_optional = bare,
	};
	if (d->dr_umask == NULL)
		err(1, NULL);
	me->jm_n++;
	return d;
}

/* The same new event of another PMU of the table, whose list both share. */
static struct draft *
find_shared(const struct json_merging *me)
{
	for (unsigned i = 0; i < me->jm_n; i++) {
		struct draft *d = &me->jm_all[i];

		if (d->dr_json && d->dr_row.er_nlist > 0 &&
		    strcmp(d->dr_name, me->jm_js->js_event) == 0)
			return d;
	}
	return NULL;
}

/* Put the JSON's code into a unit mask of an event. */
static void
set_umask(
    const struct json_merging *me, struct draft *d, struct draft_umask *du)
{
	const struct json_event *js = me->jm_js;
	uint64_t select = js->js_select;
	unsigned group = du->du_umask.um_group & 0xf;
	unsigned keep = du->du_umask.um_flags & (UM_DEFAULT | UM_OPTIONAL);
	unsigned fixed = 0;

	if ((select & SEL_EDGE) != 0)
		fixed |= 1U << MOD_E;
	if ((select & SEL_INV) != 0)
		fixed |= 1U << MOD_I;
	if ((select & SEL_ANY) != 0)
		fixed |= 1U << MOD_T;
	if ((select & SEL_CMASK(0xff)) != 0)
		fixed |= 1U << MOD_C;
	if (d->dr_row.er_ngroup > 1)
		keep |= UM_LAST_GROUP;
	if (event_of(me, select) != event_of_row(me, d))
		keep |= UM_EVENT;
	if ((keep & UM_EVENT) != 0 && me->jm_family->f_kind == EVENT_AMD)
		errx(1, "%s.%s: has not the event of its row %x", js->js_event,
		    js->js_umask, d->dr_row.er_code);
	if (me->jm_family->f_kind == EVENT_AMD) {
		select &= SEL_UMASK;
		if (d->dr_row.er_code >> 16 != 0)
			keep |= UM_WHOLE;
	}
	if (me->jm_family->f_kind == EVENT_INTEL &&
	    (d->dr_row.er_code & SEL_UMASK & ~select) != 0)
		keep |= UM_EVENT | UM_WHOLE;
	if (me->jm_family->f_kind == EVENT_INTEL &&
	    (d->dr_row.er_code & ~(SEL_EVENT | SEL_UMASK) & ~select) != 0)
		errx(1, "%s.%s: the row has %x", js->js_event, js->js_umask,
		    d->dr_row.er_code);
	du->du_umask = (struct event_umask){
		.um_flags = (uint16_t)(UM_ALONE | keep |
				       js->js_extra << UM_EXTRA_SHIFT),
		.um_fixed = (uint16_t)fixed,
		.um_code = (uint32_t)select,
		.um_high = (uint16_t)(select >> 32),
		.um_models = me->jm_bit,
		.um_group = (uint8_t)group,
	};
	du->du_equiv = NULL;
	du->du_pics = pics_of(me);
	du->du_extra = js->js_value;
	du->du_json = true;
}

static struct draft_umask *
append_umask(struct draft *d, const struct draft_umask *from)
{
	unsigned n = d->dr_row.er_nlist++;

	if (n == MAX_DRAFT_UMASKS)
		errx(1, "%s: too many unit masks", d->dr_name);
	d->dr_umask[n] = *from;
	return &d->dr_umask[n];
}

static struct draft_umask *
find_umask(const struct json_merging *me, struct draft *d)
{
	for (unsigned i = 0; i < d->dr_row.er_nlist; i++) {
		struct draft_umask *du = &d->dr_umask[i];

		if (strcasecmp(du->du_name, me->jm_umask) == 0 &&
		    (du->du_umask.um_models & me->jm_bit) != 0)
			return du;
	}
	return NULL;
}

/* The unit mask for this PMU alone. */
static struct draft_umask *
split_umask(
    const struct json_merging *me, struct draft *d, struct draft_umask *du)
{
	if (du->du_umask.um_models == me->jm_bit)
		return du;
	du->du_umask.um_models &= (uint8_t)~me->jm_bit;
	du = append_umask(d, du);
	du->du_umask.um_models = me->jm_bit;
	return du;
}

/* The same name of both sources: the JSON's code, libpfm4's, or none. */
static void
decide_umask(
    const struct json_merging *me, struct draft *d, struct draft_umask *du)
{
	struct code co = libpfm4_code(me);
	uint64_t pics = du->du_pics != 0 ? du->du_pics : d->dr_pics;

	if (agrees(&co, me->jm_js)) {
		if (pics != vendors_pics(me, pics))
			split_umask(me, d, du)->du_pics =
			    vendors_pics(me, pics);
		return;
	}
	report(me, &co);
	if (me->jm_js->js_decision == 'j')
		set_umask(me, d, split_umask(me, d, du));
	if (me->jm_js->js_decision == 'r') {
		du = split_umask(me, d, du);
		du->du_umask.um_flags |= UM_DISPUTED;
		du->du_equiv = NULL;
	}
}

/* An alias of an event has a list, too, which only the walk over names uses. */
static void
list_in_alias(
    const struct json_merging *me, struct draft *d, struct draft *alias)
{
	struct draft_umask *du;

	if (find_umask(me, alias) != NULL)
		return;
	du = append_umask(alias, find_umask(me, d));
	du->du_umask.um_models = me->jm_bit;
	du->du_equiv = NULL;
	du->du_json = true;
	if (alias->dr_row.er_ngroup == 0)
		alias->dr_row.er_ngroup = 1;
}

static void
merge_umask(struct json_merging *me)
{
	const struct json_event *js = me->jm_js;
	struct draft *d = find_draft(me, js->js_event, strlen(js->js_event));
	struct draft *alias = NULL;
	struct draft_umask *du;

	if (d != NULL && d->dr_equiv != NULL) {
		size_t len = strcspn(d->dr_equiv, ":");

		if (d->dr_equiv[len] != '\0')
			errx(1, "%s: aliases a unit mask", js->js_event);
		alias = d;
		d = find_draft(me, d->dr_equiv, len);
	}
	if (d == NULL && (d = find_shared(me)) != NULL)
		d->dr_row.er_models |= me->jm_bit;
	if (d == NULL)
		d = new_draft(me, false);
	if (strchr(js->js_umask, '.') != NULL)
		d->dr_row.er_flags |= ER_DOTTED;
	if ((du = find_umask(me, d)) != NULL) {
		decide_umask(me, d, du);
		if (alias != NULL)
			list_in_alias(me, d, alias);
		return;
	}
	if (d->dr_row.er_ngroup == 0)
		d->dr_row.er_ngroup = 1;
	/* An event that counts without unit masks still does. */
	d->dr_optional |= !d->dr_json && d->dr_row.er_nlist == 0;
	du = append_umask(d, &(struct draft_umask){
				 .du_name = strdup(me->jm_umask),
			     });
	set_umask(me, d, du);
	if (alias != NULL)
		list_in_alias(me, d, alias);
}

/* An event without unit masks, as er_code has it. */
static uint32_t
bare_code(const struct json_merging *me)
{
	uint64_t select = me->jm_js->js_select;

	switch (me->jm_family->f_kind) {
	case EVENT_INTEL:
		return (uint32_t)select;
	case EVENT_AMD:
		return event_of(me, select) | (uint32_t)(select & SEL_UMASK)
		                                  << 8;
	default:
		return event_of(me, select);
	}
}

static void
merge_bare(struct json_merging *me)
{
	const struct json_event *js = me->jm_js;
	struct draft *d = find_draft(me, js->js_event, strlen(js->js_event));
	struct code co;

	if (d != NULL && d->dr_json)
		errx(1, "%s: with and without unit masks", js->js_event);
	if (d != NULL) {
		co = libpfm4_code(me);
		if (agrees(&co, js))
			return;
		report(me, &co);
		if (js->js_decision == 'l')
			return;
		if (d->dr_row.er_nlist != 0)
			errx(1, "%s: libpfm4 has unit masks", js->js_event);
		d->dr_row.er_models &= (uint8_t)~me->jm_bit;
	}
	for (unsigned i = 0; i < me->jm_n; i++) {
		d = &me->jm_all[i];
		if (d->dr_json && d->dr_optional &&
		    strcmp(d->dr_name, js->js_event) == 0 &&
		    d->dr_row.er_code == bare_code(me) &&
		    d->dr_pics == pics_of(me) && js->js_decision != 'r') {
			d->dr_row.er_models |= me->jm_bit;
			return;
		}
	}
	d = new_draft(me, true);
	d->dr_row.er_code = bare_code(me);
	if (me->jm_family->f_kind == EVENT_AMD
		? (js->js_select & 0xffff0000) != 0
		: js->js_select >> 32 != 0)
		errx(1, "%s: code %" PRIx64, js->js_event, js->js_select);
	if (js->js_extra != 0)
		errx(1, "%s: has an extra MSR", js->js_event);
	d->dr_pics = pics_of(me);
	if (js->js_decision == 'r')
		d->dr_row.er_flags |= ER_DISPUTED;
}

static bool
sajm_umask(const struct draft_umask *a, const struct draft_umask *b)
{
	struct event_umask x = a->du_umask, y = b->du_umask;

	x.um_models = y.um_models = 0;
	return strcmp(a->du_name, b->du_name) == 0 &&
	       memcmp(&x, &y, sizeof x) == 0 && a->du_pics == b->du_pics &&
	       a->du_extra == b->du_extra && a->du_json == b->du_json &&
	       a->du_equiv == b->du_equiv;
}

/* Join equal unit masks of several PMUs, and drop those of none. */
static void
join_umasks(struct draft *d)
{
	struct draft_umask *to = d->dr_umask, *du = to, *same;
	struct draft_umask *end = du + d->dr_row.er_nlist;

	for (; du < end; du++) {
		if (du->du_umask.um_models == 0)
			continue;
		for (same = d->dr_umask; same < to; same++) {
			if (sajm_umask(same, du))
				break;
		}
		if (same < to)
			same->du_umask.um_models |= du->du_umask.um_models;
		else
			*to++ = *du;
	}
	d->dr_row.er_nlist = (uint16_t)(to - d->dr_umask);
}

/* Are these the same event without unit masks? */
static bool
sajm_row(const struct draft *a, const struct draft *b)
{
	struct event_row x = a->dr_row, y = b->dr_row;

	x.er_models = y.er_models = 0;
	return a->dr_json && b->dr_json && x.er_nlist == 0 &&
	       strcmp(a->dr_name, b->dr_name) == 0 &&
	       a->dr_pics == b->dr_pics && memcmp(&x, &y, sizeof x) == 0;
}

/* Join equal rows of several PMUs, and drop those of none. */
static unsigned
join_rows(struct draft *all, unsigned n)
{
	unsigned kept = 0, same;

	for (unsigned i = 0; i < n; i++) {
		if (all[i].dr_row.er_models == 0)
			continue;
		for (same = 0; same < kept && !sajm_row(&all[same], &all[i]);
		     same++)
			;
		if (same == kept) {
			all[kept++] = all[i];
			continue;
		}
		all[same].dr_row.er_models |= all[i].dr_row.er_models;
	}
	return kept;
}

/* A new event has the PICs of its first unit mask. */
static void
choose_pics(struct draft *d)
{
	if (d->dr_pics == 0)
		d->dr_pics = d->dr_umask[0].du_pics;
	for (unsigned i = 0; i < d->dr_row.er_nlist; i++) {
		if (d->dr_umask[i].du_pics == d->dr_pics)
			d->dr_umask[i].du_pics = 0;
	}
}

unsigned
json_merge(const struct family *f, const struct table *t, struct draft *all,
    unsigned n)
{
	struct json_merging me = {
		.jm_family = f, .jm_table = t, .jm_all = all, .jm_n = n
	};

	for (unsigned m = 0; m < t->t_npmu; m++) {
		const struct json_pmu *jp = t->t_json[m];

		me.jm_pmu = m;
		me.jm_bit = (uint8_t)(1U << m);
		for (unsigned i = 0; jp != NULL && i < jp->jp_n; i++) {
			me.jm_js = &jp->jp_event[i];
			if (strlen(me.jm_js->js_umask) > EVENT_MAXNAME)
				errx(1, "%s: too long", me.jm_js->js_umask);
			strcpy(me.jm_umask, me.jm_js->js_umask);
			for (char *s = me.jm_umask; *s != '\0'; s++)
				*s = *s == '.' ? '_' : *s;
			if (me.jm_umask[0] != '\0')
				merge_umask(&me);
			else
				merge_bare(&me);
		}
	}
	for (unsigned i = 0; i < me.jm_n; i++) {
		if (f->f_kind == EVENT_INTEL)
			drop_uncounted(t, &all[i]);
		join_umasks(&all[i]);
		choose_pics(&all[i]);
	}
	return join_rows(all, me.jm_n);
}
