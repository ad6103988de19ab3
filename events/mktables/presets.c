/*
 * Add the presets of each PMU: those of the architecture, and those of PAPI
 * whose events our encoder knows on that PMU.
 */
#include "events/mktables/tables.h"

#include <err.h>
#include <stdlib.h>

#include "events/names/preset.h"

#define X86_CONTROL 0x530000ULL /* EN, INT, OS, USR: not of the event */
#define ARM_EVENT   0xffffULL   /* evtCount of PMEVTYPER<n>_EL0 */

/* The tables, as far as they are made. */
static struct event_db
db_now(void)
{
	struct event_db db = { .ed_bytes = { 0 } };

	for (unsigned s = 0; s < SECTION_FACTS; s++) {
		db.ed_at[s] = pool[s].p_at;
		db.ed_bytes[s] = (uint32_t)(pool[s].p_n * pool[s].p_size);
	}
	return db;
}

static bool
encode_name(const struct events *es, const char *name, struct event_spec *sp,
    struct event_code *ec)
{
	struct event_spec whole;

	if (events_parse(es, name, EVENT_ANY_CASE, sp) != EVENT_OK)
		return false;
	whole = *sp; /* the default unit masks are for the encoder to add */
	return events_encode(es, &whole, ec) == EVENT_OK;
}

static uint64_t
plain_code(const struct events *es, const struct event_code *ec)
{
	if (ec->ec_extra != EXTRA_NONE)
		return ~0ULL;
	return es->es_pmu->ep_kind == EVENT_ARM ? ec->ec_select & ARM_EVENT
	                                        : ec->ec_select & ~X86_CONTROL;
}

/* Prefer a fixed PIC to all general ones, then a name without a unit mask. */
static int
name_worth(const struct event_code *ec, const char *name)
{
	int general = __builtin_popcountll(ec->ec_pics & UINT32_MAX);
	int fixed = __builtin_popcountll(ec->ec_pics >> 32);

	return 128 * fixed + 2 * general + (strchr(name, ':') == NULL);
}

/* The first name with that code that most PICs count. */
static bool
find_code(const struct events *es, uint64_t code, struct event_spec *found)
{
	struct event_walk ew = { 0 };
	struct event_spec sp;
	struct event_code ec;
	char name[256];
	int best = 0;

	while (events_next(es, &ew, ~0ULL, name, sizeof name)) {
		if (!encode_name(es, name, &sp, &ec) ||
		    plain_code(es, &ec) != code || code == ~0ULL ||
		    name_worth(&ec, name) <= best)
			continue;
		best = name_worth(&ec, name);
		*found = sp;
	}
	return best > 0;
}

/* libpfm4's code of a name, or ~0. */
static uint64_t
libpfm4_code(const struct event_pmu *ep, const char *pmu, const char *name)
{
	uint64_t *codes = NULL, code = ~0ULL;
	char text[512];
	int n = 0;

	snprintf(text, sizeof text, "%s::%s", pmu, name);
	if (pfm_get_event_encoding(text, PFM_PLM0 | PFM_PLM3, NULL, NULL,
		&codes, &n) == PFM_SUCCESS &&
	    n == 1)
		code = codes[0] &
		       (ep->ep_kind == EVENT_ARM ? ARM_EVENT : ~X86_CONTROL);
	free(codes);
	return code;
}

/*
 * Find an event by PAPI's name for it.  The unit masks of a vendor's events do
 * not combine, but one of its events may be what several are in libpfm4.  PAPI
 * also searches the events of the architecture, a separate PMU of libpfm4's.
 */
static bool
find_event(const struct events *es, const char *name, struct event_spec *sp)
{
	const struct event_pmu *ep = es->es_pmu;
	struct event_code ec;

	return encode_name(es, name, sp, &ec) ||
	       find_code(es, libpfm4_code(ep, ep->ep_name, name), sp) ||
	       find_code(es, libpfm4_code(ep, "ix86arch", name), sp);
}

/* Add an event as an alias.  alias_add_event() (events/names/) reads it. */
static uint16_t
event_add(const struct events *es, const struct event_spec *sp)
{
	const struct event_row *rows = es->es_db->ed_at[SECTION_ROWS];
	uint8_t bytes[4 + EVENT_MAXUMASK + 2 * MOD_N];
	unsigned n = 0, nmod;
	ptrdiff_t row = sp->spc_row - &rows[es->es_pmu->ep_first];

	bytes[n++] = (uint8_t)row;
	bytes[n++] = (uint8_t)(row >> 8);
	bytes[n++] = sp->spc_numask;
	for (unsigned i = 0; i < sp->spc_numask; i++) {
		if (sp->spc_umask[i] > UINT8_MAX)
			errx(1, "a preset's unit mask is too far in its list");
		bytes[n++] = (uint8_t)sp->spc_umask[i];
	}
	nmod = n++;
	bytes[nmod] = 0;
	for (unsigned m = 0; m < MOD_N; m++) {
		if ((sp->spc_given >> m & 1) == 0)
			continue;
		if (sp->spc_value[m] > UINT8_MAX)
			errx(1, "a preset's modifier is too large");
		bytes[nmod]++;
		bytes[n++] = (uint8_t)m;
		bytes[n++] = (uint8_t)sp->spc_value[m];
	}
	return (uint16_t)pool_find(SECTION_ALIASES, bytes, n);
}

/* The presets of a PMU while they grow. */
struct list {
	struct event_preset lst_row[UINT8_MAX];
	unsigned lst_n;
};

static void
list_add(struct list *li, int preset, enum preset_why why, uint16_t event)
{
	if (li->lst_n == LENGTH(li->lst_row))
		errx(1, "a PMU has too many presets");
	li->lst_row[li->lst_n++] = (struct event_preset){
		.pr_preset = (uint8_t)preset,
		.pr_why = (uint8_t)why,
		.pr_event = event,
	};
}

static bool
add_architected(const struct event_pmu *ep, int preset, struct list *li)
{
	uint64_t code = architected_code(ep, event_preset_names[preset]);
	struct event_spec sp;
	struct event_db db = db_now();
	struct events es = { &db, ep };

	if (code == 0 || !find_code(&es, code, &sp))
		return false;
	list_add(li, preset, PRESET_EXACT, event_add(&es, &sp));
	return true;
}

/* PAPI has a preset whose events it finds all; the others it drops. */
static void
add_papis(const struct event_pmu *ep, int preset, const struct papi_line *pp,
    struct list *li)
{
	struct event_spec sp[LENGTH(pp->pap_event)];
	struct event_db db = db_now();
	struct events es = { &db, ep };
	enum preset_why why = PRESET_DERIVED;
	unsigned i;

	for (i = 0; i < pp->pap_nevent; i++) {
		if (!find_event(&es, pp->pap_event[i], &sp[i]))
			return;
	}
	if (pp->pap_nevent == 1)
		why = preset_denied(
		    ep->ep_name, event_preset_names[preset], pp->pap_event[0]);
	for (i = 0; i < pp->pap_nevent; i++)
		list_add(li, preset, why, event_add(&es, &sp[i]));
}

/* PAPI's line of each preset of a PMU: a later one replaces an earlier one. */
static void
find_lines(const char *pmu, const struct papi_line **papi)
{
	int p;

	for (const struct papi_line *pp = papi_lines; pp->pap_pmu; pp++) {
		/* PAPI has presets that are not in our list. */
		if (strcasecmp(pp->pap_pmu, pmu) == 0 &&
		    events_is_preset(pp->pap_preset) &&
		    (p = event_preset_number(pp->pap_preset, EVENT_ANY_CASE)) >=
			0)
			papi[p] = pp;
	}
}

static void
add_pmu(struct event_pmu *ep)
{
	const struct papi_line *papi[EVENT_PRESETS] = { NULL };
	struct list li = { .lst_n = 0 };

	find_lines(ep->ep_name, papi);
	for (int p = 0; p < EVENT_PRESETS; p++) {
		if (!add_architected(ep, p, &li) && papi[p] != NULL)
			add_papis(ep, p, papi[p], &li);
	}
	ep->ep_preset =
	    (uint16_t)pool_find(SECTION_PRESETS, li.lst_row, li.lst_n);
	ep->ep_npreset = (uint8_t)li.lst_n;
}

void
presets_add(void)
{
	struct event_pmu *ep = pool[SECTION_PMUS].p_at;

	for (unsigned i = 0; i < pool[SECTION_PMUS].p_n; i++)
		add_pmu(&ep[i]);
}
