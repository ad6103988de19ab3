/*
 * Names on their way to programs and back: lists of events and attributes,
 * the resolution of a name, the tables of this image.
 */
#include "kern/kcpc.h"

#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/kcpc_impl.h"
#include "kern/ksym.h"
#include "kern/usercopy.h"
#include "lib/string.h"

/* A list on its way out: how long it is, and where the next name goes. */
struct listing {
	uintptr_t ls_to;
	size_t ls_room;
	size_t ls_bytes;
	int ls_err;
};

static void
list_add(struct listing *ls, const char *name)
{
	size_t bytes = strlen(name) + 1;
	size_t fits = bytes < ls->ls_room ? bytes : ls->ls_room;

	if (fits > 0 && ls->ls_err == 0)
		ls->ls_err = copyout(ls->ls_to, name, fits);
	ls->ls_to += fits;
	ls->ls_room -= fits;
	ls->ls_bytes += bytes;
}

static intptr_t
list_end(const struct listing *ls)
{
	return ls->ls_err != 0 ? -ls->ls_err : (intptr_t)ls->ls_bytes;
}

#define LEVELS (1U << MOD_U | 1U << MOD_K | 1U << MOD_HV)

/* A name says at which levels, and these are they. */
static uint32_t
levels(bool user, bool system, bool hv)
{
	uint32_t flags = (user ? CPC_COUNT_USER : 0) |
	                 (system ? CPC_COUNT_SYSTEM : 0) |
	                 (hv ? CPC_COUNT_HV : 0);

	return CPC_EVENT_LEVELS | flags << CPC_EVENT_LEVEL_SHIFT;
}

/* Names are read by words. */
#define PADDED (CPC_MAX_EVENT_LEN + EVENT_WORD)

/* What comes of a padded name by the table of this CPU: PICs, or 0. */
static uint64_t
resolve_by_table(const char *name, struct pcbe_event *pe)
{
	const struct events *es = &kcpc_ops->pcbe_table;
	struct event_spec sp;
	struct event_code ec;

	if (es->es_pmu == NULL ||
	    events_parse_padded(es, name, EVENT_EITHER_CASE, &sp) != EVENT_OK ||
	    events_encode(es, &sp, &ec) != EVENT_OK)
		return 0;
	pe->pe_flags = (uint32_t)ec.ec_extra << CPC_EVENT_EXTRA_SHIFT |
	               (sp.sp_preset ? CPC_EVENT_GENERIC : 0);
	if ((ec.ec_given & LEVELS) != 0)
		pe->pe_flags |= levels(sp.sp_value[MOD_U] != 0,
		    sp.sp_value[MOD_K] != 0, sp.sp_value[MOD_HV] != 0);
	pe->pe_extra = ec.ec_extra_value;
	pe->pe_pics = kcpc_ops->table_event(&ec, pe);
	return pe->pe_pics;
}

/* The same of a raw event in perf's form. */
static uint64_t
resolve_as_perf(const char *name, struct pcbe_event *pe)
{
	struct event_code ec;

	if (kcpc_ops->table_event == NULL ||
	    !events_perf(kcpc_ops->pcbe_kind, name, &ec))
		return 0;
	*pe = (struct pcbe_event){ .pe_code = 0 };
	if ((ec.ec_given & LEVELS) != 0)
		pe->pe_flags = levels((ec.ec_given >> MOD_U & 1) != 0,
		    (ec.ec_given >> MOD_K & 1) != 0, false);
	pe->pe_pics = kcpc_ops->table_event(&ec, pe);
	return pe->pe_pics;
}

/* The backend's own names go first, then the table's; numbers last. */
static bool
resolve(const char *name, bool is_num, uint64_t num, struct pcbe_event *pe)
{
	return kcpc_ops->event_coverage(name, false, 0, pe) != 0 ||
	       (!is_num && resolve_by_table(name, pe) != 0) ||
	       (!is_num && resolve_as_perf(name, pe) != 0) ||
	       (is_num && kcpc_ops->event_coverage(name, true, num, pe) != 0);
}

static bool
is_generic(const char *name)
{
	return strncmp(name, "PAPI", 4) == 0;
}

/* A name of the table, if the PIC can count it. */
static void
list_resolved(struct listing *ls, unsigned pic, const char *name)
{
	struct pcbe_event pe;

	if ((resolve_by_table(name, &pe) >> pic & 1) != 0 &&
	    (pe.pe_flags & CPC_EVENT_LACKING) == 0)
		list_add(ls, name);
}

static void
list_table(struct listing *ls, unsigned pic)
{
	const struct events *es = &kcpc_ops->pcbe_table;
	struct event_walk ew = { 0 };
	char name[PADDED];

	while (events_next(es, &ew, ~0ULL, name, CPC_MAX_EVENT_LEN))
		list_resolved(ls, pic, name);
}

/* The table's presets that are not the backend's, too: those went before. */
static void
list_presets(struct listing *ls, unsigned pic)
{
	const struct events *es = &kcpc_ops->pcbe_table;
	char name[PADDED];
	struct pcbe_event pe;
	unsigned n = 0;

	while (events_next_preset(es, &n, name, CPC_MAX_EVENT_LEN)) {
		if (kcpc_ops->event_coverage(name, false, 0, &pe) == 0)
			list_resolved(ls, pic, name);
	}
}

intptr_t
kcpc_list_events(const uintptr_t *a)
{
	struct listing ls = { .ls_to = a[1], .ls_room = a[2] };
	bool generic = a[3] != 0;
	const char *name;
	unsigned at = 0;

	if (a[0] >= kcpc_npic)
		return -EINVAL;
	if ((kcpc_pics & 1ULL << a[0]) == 0)
		return 0;
	while ((name = kcpc_ops->list_events((unsigned)a[0], &at)) != NULL) {
		if (is_generic(name) == generic)
			list_add(&ls, name);
	}
	if (generic)
		list_presets(&ls, (unsigned)a[0]);
	else
		list_table(&ls, (unsigned)a[0]);
	return list_end(&ls);
}

intptr_t
kcpc_list_attrs(const uintptr_t *a)
{
	struct listing ls = { .ls_to = a[1], .ls_room = a[2] };
	const char *name;
	unsigned n;

	for (n = 0; (name = kcpc_ops->list_attrs(n)) != NULL; n++)
		list_add(&ls, name);
	return list_end(&ls);
}

static intptr_t
list_one(const uintptr_t *a, const char *name)
{
	struct listing ls = { .ls_to = a[1], .ls_room = a[2] };

	list_add(&ls, name);
	return list_end(&ls);
}

intptr_t
kcpc_impl_name(const uintptr_t *a)
{
	return list_one(a, kcpc_ops->impl_name());
}

intptr_t
kcpc_cpuref(const uintptr_t *a)
{
	return list_one(a, kcpc_ops->cpuref());
}

intptr_t
kcpc_event(const uintptr_t *a)
{
	struct pcbe_event pe = { 0 };
	struct cpc_event ce = { 0 };
	char name[PADDED];
	int err;

	if ((err = copyinstr(name, a[0], CPC_MAX_EVENT_LEN)) == EFAULT)
		return -EFAULT;
	if (err != 0)
		return -EINVAL; /* no event has so long a name */
	if (!resolve(name, a[1] != 0, a[2], &pe)) {
		kcpc_asked(true);
		return -EINVAL;
	}
	ce.ce_pics = (uint32_t)(pe.pe_pics & kcpc_pics);
	ce.ce_code = pe.pe_code;
	ce.ce_extra = pe.pe_extra;
	ce.ce_flags = pe.pe_flags;
	return -copyout(a[3], &ce, sizeof ce);
}

/*
 * Of the backend's own names the nearest to one that is none, less than
 * `best` letters away, or NULL.
 */
static const char *
nearest_own(const char *name, unsigned best)
{
	const char *own, *found = NULL;
	unsigned at;

	for (unsigned pic = 0; pic < kcpc_npic; pic++) {
		at = 0;
		while ((own = kcpc_ops->list_events(pic, &at)) != NULL) {
			if (events_is_nearer(name, own, &best))
				found = own;
		}
	}
	return found;
}

/* What the table has to say of a name. */
static enum event_error
error_of(const char *name)
{
	const struct events *es = &kcpc_ops->pcbe_table;
	struct event_spec sp;
	struct event_code ec;
	enum event_error err = events_parse(es, name, EVENT_EITHER_CASE, &sp);

	return err == EVENT_OK ? events_encode(es, &sp, &ec) : err;
}

/* Why the table has an event, but not as the name has it. */
static const char *
wrong_of(const char *name)
{
	enum event_error err = error_of(name);

	if (err == EVENT_UNKNOWN || err == EVENT_BAD_PART ||
	    err == EVENT_NO_PRESET)
		return NULL;
	return err == EVENT_OK ? "no PIC of this machine counts it"
	                       : event_strerror(err);
}

/*
 * The backend's in other letters; the table's, as a CPU has one and its names
 * are more; else the backend's.
 */
static bool
suggest(const char *name, char *buf, size_t size)
{
	const char *own = nearest_own(name, 1);

	if (own == NULL &&
	    events_suggest(&kcpc_ops->pcbe_table, name, buf, size))
		return true;
	if (own == NULL && (own = nearest_own(name, ~0U)) == NULL)
		return false;
	strlcpy(buf, own, size);
	return true;
}

intptr_t
kcpc_event_why(const uintptr_t *a)
{
	char name[CPC_MAX_EVENT_LEN], why[CPC_MAX_EVENT_LEN];
	const char *wrong;
	int err;

	if ((err = copyinstr(name, a[0], sizeof name)) != 0)
		return -err;
	/* One of the backend's in other letters is for suggest(). */
	if (events_is_preset(name) && nearest_own(name, 1) == NULL &&
	    events_preset_why(&kcpc_ops->pcbe_table, name, why, sizeof why) > 0)
		return list_one(a, why);
	if ((wrong = wrong_of(name)) != NULL)
		return list_one(a, wrong);
	strlcpy(why, "did you mean ", sizeof why);
	if (!suggest(name, why + strlen(why), sizeof why - strlen(why) - 1))
		return 0;
	why[strlen(why) + 1] = '\0';
	why[strlen(why)] = '?';
	return list_one(a, why);
}

intptr_t
kcpc_event_known(const uintptr_t *a)
{
	char name[CPC_MAX_EVENT_LEN];
	int err;

	if ((err = copyinstr(name, a[0], sizeof name)) != 0)
		return -err;
	return events_preset_exists(name) || error_of(name) == EVENT_OK;
}

intptr_t
kcpc_table_cpu(const uintptr_t *a)
{
	const struct events *es = &kcpc_ops->pcbe_table;

	return es->es_pmu != NULL ? list_one(a, es->es_pmu->ep_name) : 0;
}

intptr_t
kcpc_kernel_symbol(const uintptr_t *a)
{
	struct listing ls = { .ls_to = a[1], .ls_room = a[2] };
	uintptr_t offset;
	const char *name = ksym_lookup(a[0], &offset);

	if (name[0] == '?')
		return -EINVAL;
	list_add(&ls, name);
	return list_end(&ls);
}
