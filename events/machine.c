/* Resolve a name to the event that the kernel gets, or say why not. */
#include "events/machine.h"

#include <stdio.h>
#include <string.h>

#include "events/names/text.h"
#include "events/select.h"

static const struct machine_kind *const kinds[] = {
	[CPC_PMU_INTEL] = &machine_intel,
	[CPC_PMU_AMD] = &machine_amd,
	[CPC_PMU_ARM] = &machine_arm,
	[CPC_PMU_SOFTWARE] = &machine_soft,
};

static const char *const attr_names[CPC_ATTR_IDS] = {
	[CPC_ATTR_EDGE] = "edge",
	[CPC_ATTR_PC] = "pc",
	[CPC_ATTR_INV] = "inv",
	[CPC_ATTR_UMASK] = "umask",
	[CPC_ATTR_CMASK] = "cmask",
	[CPC_ATTR_ANYTHR] = "anythr",
	[CPC_ATTR_MSR_OFFCORE] = "msr_offcore",
	[CPC_ATTR_MSR_LDLAT] = "msr_ldlat",
	[CPC_ATTR_MSR_FRONTEND] = "msr_frontend",
	[CPC_ATTR_EMASK] = "emask",
	[CPC_ATTR_SIBLING_USR] = "count_sibling_usr",
	[CPC_ATTR_SIBLING_SYS] = "count_sibling_sys",
};

const char *
machine_attr(enum cpc_attr_id id)
{
	return id < CPC_ATTR_IDS ? attr_names[id] : NULL;
}

uint64_t
event_select_only(const struct event_code *ec)
{
	return ec->ec_select & ~SEL_CONTROL;
}

bool
machine_unmodelled(const struct cpc_pmu *pm, uint64_t select)
{
	const struct cpc_model *m = pm->pm_models, *end = m + pm->pm_nmodels;

	if (pm->pm_listed == 0)
		return false;
	while (m < end && (select & m->ml_match_mask) != m->ml_select)
		m++;
	return m == end || select >> 32 != 0 ||
	       (select & ~(uint64_t)(m->ml_match_mask | m->ml_modelled_mask)) !=
	           0;
}

static const struct machine_kind *
kind_of(const struct machine *mc)
{
	return kinds[mc->mc_pmu.pm_kind];
}

/* The table */

static void
say_no_file(struct machine *mc, const char *codes)
{
	snprintf(mc->mc_why, sizeof mc->mc_why,
	    "%s: raw codes (%s) and architected events work, `list' prints "
	    "them",
	    events_file_why(kind_of(mc)->mk_kind), codes);
}

static void
say_no_table(struct machine *mc, const char *codes)
{
	const struct cpc_pmu *pm = &mc->mc_pmu;
	bool arm = pm->pm_kind == CPC_PMU_ARM;

	snprintf(mc->mc_why, sizeof mc->mc_why,
	    "no table of events exists for this CPU (%s %#x, %s %#x): raw "
	    "codes (%s) and architected events work, `list' prints them",
	    arm ? "implementer" : "family", pm->pm_family,
	    arm ? "part" : "model", pm->pm_model, codes);
}

/*
 * The table of the CPU.  A hybrid part has two tables for its model: that of
 * the core type is right.
 */
static struct events
find_table(const struct cpc_pmu *pm, const struct event_db *const *dbs,
    const struct machine_kind *mk)
{
	if (pm->pm_core != 0)
		return events_core(
		    dbs, pm->pm_family, pm->pm_model, pm->pm_core);
	return events_cpu(
	    dbs, mk->mk_kind, pm->pm_family, pm->pm_model, pm->pm_stepping);
}

static void
load_one(struct machine *mc, const char *folder)
{
	const struct cpc_pmu *pm = &mc->mc_pmu;
	const struct machine_kind *mk = kind_of(mc);
	/* On Intel, the number of an event has no unit mask. */
	const char *codes =
	    pm->pm_kind == CPC_PMU_INTEL ? "r1c0, 0xc0" : "r1c0, 0x1c0";
	const struct event_db *const *dbs;

	mc->mc_table = (struct events){ NULL, NULL };
	mc->mc_why[0] = '\0';
	if (mk->mk_tabled != NULL) {
		dbs = events_files(folder);
		if (dbs[mk->mk_kind] == NULL)
			say_no_file(mc, codes);
		else
			mc->mc_table = find_table(pm, dbs, mk);
		if (dbs[mk->mk_kind] != NULL && mc->mc_table.es_pmu == NULL)
			say_no_table(mc, codes);
		if (mc->mc_table.es_pmu != NULL &&
		    events_file_lacks(&mc->mc_table) != NULL) {
			mc->mc_table = (struct events){ NULL, NULL };
			say_no_file(mc, codes);
		}
	}
}

void
machine_load(struct machine *mc, const char *folder)
{
	for (unsigned t = 0; t < mc->mc_ntypes; t++)
		machine_load(&mc->mc_types[t], folder);
	if (mc->mc_ntypes == 0) {
		load_one(mc, folder);
	} else {
		mc->mc_table = mc->mc_types[0].mc_table;
		strcpy(mc->mc_why, mc->mc_types[0].mc_why);
	}
	__atomic_store_n(&mc->mc_loaded, true, __ATOMIC_RELEASE);
}

/* Resolution */

static const char *
own_name(const struct machine_kind *mk, unsigned n)
{
	const char *const *at =
	    (const void *)((const char *)mk->mk_first + n * mk->mk_bytes);

	return *at;
}

/* The place of a name among the machine's own, or -1. */
static int
own_find(const struct machine_kind *mk, const char *name)
{
	unsigned low = 0, high = mk->mk_n, mid;
	const char *at;
	int order;

	while (low < high) {
		mid = low + (high - low) / 2;
		at = own_name(mk, mid);
		/* The first letter mostly decides. */
		order = (unsigned char)*name - (unsigned char)*at;
		if (order == 0)
			order = strcmp(name, at);
		if (order == 0)
			return (int)mid;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return -1;
}

static uint64_t
resolve_own(const struct machine *mc, const char *name, struct cpc_event *ce)
{
	const struct machine_kind *mk = kind_of(mc);
	int n = own_find(mk, name);

	return n >= 0 ? mk->mk_own(&mc->mc_pmu, (unsigned)n, ce) : 0;
}

/* An own name in capitals, as in the manuals of some kinds of PMU. */
static uint64_t
resolve_capitals(
    const struct machine *mc, const char *name, struct cpc_event *ce)
{
	char small[CPC_MAX_EVENT_LEN];
	size_t n;

	if (!kind_of(mc)->mk_capitals)
		return 0;
	for (n = 0; name[n] != '\0'; n++) {
		if (n + 1 == sizeof small || (name[n] >= 'a' && name[n] <= 'z'))
			return 0;
		small[n] = event_lower(name[n]);
	}
	small[n] = '\0';
	return resolve_own(mc, small, ce);
}

bool
machine_is_architected(const struct machine *mc, const char *name)
{
	struct cpc_event ce;

	for (unsigned t = 0; t < mc->mc_ntypes; t++) {
		if (!machine_is_architected(&mc->mc_types[t], name))
			return false;
	}
	return mc->mc_ntypes != 0 || resolve_own(mc, name, &ce) != 0;
}

bool
machine_needs_table(const struct machine *mc, const char *name, bool is_num)
{
	return is_num ? mc->mc_pmu.pm_kind == CPC_PMU_INTEL
	              : !machine_is_architected(mc, name);
}

#define LEVELS (1U << MOD_U | 1U << MOD_K | 1U << MOD_HV)

/* The flags of an event whose name has these privileges. */
static uint32_t
level_flags(bool user, bool system, bool hv)
{
	uint32_t flags = (user ? CPC_COUNT_USER : 0) |
	                 (system ? CPC_COUNT_SYSTEM : 0) |
	                 (hv ? CPC_COUNT_HV : 0);

	return CPC_EVENT_LEVELS | flags << CPC_EVENT_LEVEL_SHIFT;
}

static uint64_t
resolve_by_table(
    const struct machine *mc, const char *name, struct cpc_event *ce)
{
	const struct events *es = &mc->mc_table;
	struct event_spec sp;
	struct event_code ec;

	if (es->es_pmu == NULL ||
	    events_parse_padded(es, name, EVENT_EITHER_CASE, &sp) != EVENT_OK ||
	    events_encode(es, &sp, &ec) != EVENT_OK)
		return 0;
	ce->ce_flags = (uint32_t)ec.ec_extra << CPC_EVENT_EXTRA_SHIFT |
	               (sp.spc_preset ? CPC_EVENT_GENERIC : 0);
	if ((ec.ec_given & LEVELS) != 0)
		ce->ce_flags |= level_flags(sp.spc_value[MOD_U] != 0,
		    sp.spc_value[MOD_K] != 0, sp.spc_value[MOD_HV] != 0);
	ce->ce_extra = ec.ec_extra_value;
	return kind_of(mc)->mk_tabled(&mc->mc_pmu, &ec, ce);
}

/* Resolve a raw event in perf's form. */
static uint64_t
resolve_as_perf(
    const struct machine *mc, const char *name, struct cpc_event *ce)
{
	const struct machine_kind *mk = kind_of(mc);
	struct event_code ec;

	if (mk->mk_tabled == NULL || !events_perf(mk->mk_kind, name, &ec))
		return 0;
	*ce = (struct cpc_event){
		.ce_flags = (uint32_t)ec.ec_extra << CPC_EVENT_EXTRA_SHIFT,
		.ce_extra = ec.ec_extra_value,
	};
	events_raw_pics(&mc->mc_table, &ec);
	if ((ec.ec_given & LEVELS) != 0)
		ce->ce_flags |= level_flags((ec.ec_given >> MOD_U & 1) != 0,
		    (ec.ec_given >> MOD_K & 1) != 0, false);
	return mk->mk_tabled(&mc->mc_pmu, &ec, ce);
}

static uint64_t
resolve_number(const struct machine *mc, uint64_t num, struct cpc_event *ce)
{
	struct event_code ec = { .ec_select = num, .ec_pics = UINT32_MAX };

	*ce = (struct cpc_event){ .ce_flags = CPC_EVENT_RAW };
	events_raw_pics(&mc->mc_table, &ec);
	return kind_of(mc)->mk_number(&mc->mc_pmu, num, ce) &
	       (ec.ec_pics & UINT32_MAX);
}

void
machine_set_attr(
    const struct machine *mc, int attr, uint64_t value, struct cpc_event *ce)
{
	uint32_t general = mc->mc_pmu.pm_general, pics = UINT32_MAX;
	struct event_code ec = {
		.ec_select = (ce->ce_code & ~SEL_UMASK) | (value & 0xff) << 8,
		.ec_pics = UINT32_MAX,
	};
	struct cpc_event one;

	for (unsigned t = 0; t < mc->mc_ntypes; t++) {
		one = *ce;
		machine_set_attr(&mc->mc_types[t], attr, value, &one);
		pics &= one.ce_pics;
	}
	if (mc->mc_ntypes != 0)
		ce->ce_pics = pics;
	if (attr != CPC_ATTR_UMASK || mc->mc_ntypes != 0 ||
	    mc->mc_pmu.pm_kind != CPC_PMU_INTEL ||
	    (ce->ce_code & SEL_INTXCP) != 0)
		return;
	events_raw_pics(&mc->mc_table, &ec);
	pics = (uint32_t)ec.ec_pics & general;
	if (pics != 0)
		ce->ce_pics = (ce->ce_pics & ~general) | pics;
}

/* The machine's own names come first, then numbers, then the table's names. */
static inline __attribute__((always_inline)) bool
event_alone(const struct machine *mc, const char *name, bool is_num,
    uint64_t num, struct cpc_event *ce)
{
	*ce = (struct cpc_event){ .ce_code = 0 };
	uint64_t pics = resolve_own(mc, name, ce);
	if (pics == 0 && is_num)
		pics = resolve_number(mc, num, ce);
	if (pics == 0 && !is_num)
		pics = resolve_by_table(mc, name, ce);
	if (pics == 0 && !is_num)
		pics = resolve_as_perf(mc, name, ce);
	if (pics == 0 && !is_num)
		pics = resolve_capitals(mc, name, ce);
	if (pics == 0) {
		*ce = (struct cpc_event){ .ce_code = 0 };
		return false;
	}
	ce->ce_pics = (uint32_t)(pics & mc->mc_pmu.pm_pics);
	return true;
}

bool
machine_event_alone(const struct machine *mc, const char *name, bool is_num,
    uint64_t num, struct cpc_event *ce)
{
	return event_alone(mc, name, is_num, num, ce);
}

/* The common case is inline: a lookup has a bound (cpc_lookup). */
bool
machine_event(const struct machine *mc, const char *name, bool is_num,
    uint64_t num, struct cpc_event *ce)
{
	if (mc->mc_pmu.pm_ntypes == 0) {
		if (event_alone(mc, name, is_num, num, ce))
			return true;
		if (strchr(name, '/') == NULL)
			return false;
	}
	if (machine_event_typed(mc, name, is_num, num, ce))
		return true;
	*ce = (struct cpc_event){ .ce_code = 0 };
	return false;
}

bool
machine_name(const struct machine *mc, const char *name, struct cpc_event *ce)
{
	char padded[CPC_MAX_EVENT_LEN + EVENT_WORD] = "";

	if (strlen(name) >= CPC_MAX_EVENT_LEN)
		return false;
	strcpy(padded, name);
	return machine_event(mc, padded, false, 0, ce);
}

/* Lists */

/* The next of the machine's own names that one of the PICs counts. */
static bool
next_own(const struct machine *mc, uint64_t pics, bool generic, unsigned *at,
    char *buf, size_t size)
{
	const struct machine_kind *mk = kind_of(mc);
	struct cpc_event ce;

	while (*at < mk->mk_n) {
		unsigned n = (*at)++;

		if ((mk->mk_own(&mc->mc_pmu, n, &ce) & pics) == 0 ||
		    (ce.ce_flags & CPC_EVENT_LACKING) != 0 ||
		    ((ce.ce_flags & CPC_EVENT_GENERIC) != 0) != generic)
			continue;
		snprintf(buf, size, "%s", own_name(mk, n));
		return true;
	}
	return false;
}

/* Can one of the PICs count this name of the table? */
static bool
is_listed(const struct machine *mc, uint64_t pics, const char *name)
{
	struct cpc_event ce = { .ce_code = 0 };

	return (resolve_by_table(mc, name, &ce) & pics) != 0 &&
	       (ce.ce_flags & CPC_EVENT_LACKING) == 0;
}

bool
machine_next(const struct machine *mc, uint64_t pics, bool generic,
    struct machine_list *ml, char *buf, size_t size)
{
	const struct events *es = &mc->mc_table;

	pics &= mc->mc_pmu.pm_pics;
	if (mc->mc_ntypes != 0)
		return machine_next_shared(mc, pics, generic, ml, buf, size);
	if (next_own(mc, pics, generic, &ml->mcl_own, buf, size))
		return true;
	/* Presets of the table that are not the machine's own. */
	while (generic && events_next_preset(es, &ml->mcl_preset, buf, size)) {
		if (!machine_is_architected(mc, buf) &&
		    is_listed(mc, pics, buf))
			return true;
	}
	while (!generic && events_next(es, &ml->mcl_walk, ~0ULL, buf, size)) {
		if (is_listed(mc, pics, buf))
			return true;
	}
	return false;
}

/* Refusals */

/*
 * The machine's own name that is nearest to an unknown one, if it is less than
 * `best` letters away; else NULL.
 */
static const char *
nearest_own(const struct machine *mc, const char *name, unsigned best)
{
	const struct machine_kind *mk = kind_of(mc);
	const char *found = NULL;
	struct cpc_event ce;

	for (unsigned n = 0; n < mk->mk_n; n++) {
		if (mk->mk_own(&mc->mc_pmu, n, &ce) != 0 &&
		    events_is_nearer(name, own_name(mk, n), &best))
			found = own_name(mk, n);
	}
	return found;
}

/* Why the table refuses a name. */
static enum event_error
error_of(const struct machine *mc, const char *name)
{
	const struct events *es = &mc->mc_table;
	struct event_spec sp;
	struct event_code ec;
	enum event_error err = events_parse(es, name, EVENT_EITHER_CASE, &sp);

	return err == EVENT_OK ? events_encode(es, &sp, &ec) : err;
}

/* Why a name of a known event is wrong, or NULL if the event is unknown. */
static const char *
wrong_of(const struct machine *mc, const char *name)
{
	enum event_error err = error_of(mc, name);

	if (err == EVENT_UNKNOWN || err == EVENT_BAD_PART ||
	    err == EVENT_NO_PRESET)
		return NULL;
	return err == EVENT_OK ? "no PIC of this machine counts it"
	                       : event_strerror(err);
}

/*
 * Suggest one of the machine's own names if only its case differs.  Else
 * suggest a name of the table, which has more, or else an own name.
 */
static bool
suggest_name(const struct machine *mc, const char *name, char *buf, size_t size)
{
	const char *own = nearest_own(mc, name, 1);

	if (own == NULL && events_suggest(&mc->mc_table, name, buf, size))
		return true;
	if (own == NULL && (own = nearest_own(mc, name, ~0U)) == NULL)
		return false;
	snprintf(buf, size, "%s", own);
	return true;
}

void
machine_why(const struct machine *mc, const char *name, char *buf, size_t size)
{
	if (mc->mc_pmu.pm_ntypes != 0 && machine_why_typed(mc, name, buf, size))
		return;
	machine_why_alone(
	    mc->mc_ntypes != 0 ? &mc->mc_types[0] : mc, name, buf, size);
}

void
machine_why_alone(
    const struct machine *mc, const char *name, char *buf, size_t size)
{
	char near[CPC_MAX_EVENT_LEN];
	const char *wrong;
	bool own = nearest_own(mc, name, 1) != NULL;

	/* suggest_name() handles an own name in another case. */
	if (!own && mc->mc_why[0] != '\0' && events_preset_exists(name)) {
		snprintf(buf, size, "%s", mc->mc_why);
		return;
	}
	if (!own && events_is_preset(name) &&
	    events_preset_why(&mc->mc_table, name, buf, size) > 0)
		return;
	if ((wrong = wrong_of(mc, name)) != NULL)
		snprintf(buf, size, "%s", wrong);
	else if (suggest_name(mc, name, near, sizeof near))
		snprintf(buf, size, "did you mean %.480s?", near);
	else
		snprintf(buf, size, "%s", mc->mc_why);
}

bool
machine_knows(const struct machine *mc, const char *name)
{
	for (unsigned t = 0; t < mc->mc_ntypes; t++) {
		if (machine_knows(&mc->mc_types[t], name))
			return true;
	}
	return events_preset_exists(name) || error_of(mc, name) == EVENT_OK;
}
