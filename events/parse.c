/*
 * From a name to the rows and values it consists of.
 */
#include "events/events.h"
#include "events/text.h"

const char *const event_mod_names[MOD_N] = {
	[MOD_K] = "k",
	[MOD_U] = "u",
	[MOD_E] = "e",
	[MOD_I] = "i",
	[MOD_C] = "c",
	[MOD_T] = "t",
	[MOD_LDLAT] = "ldlat",
	[MOD_INTX] = "intx",
	[MOD_INTXCP] = "intxcp",
	[MOD_FETHR] = "fe_thres",
	[MOD_H] = "h",
	[MOD_G] = "g",
	[MOD_HV] = "hv",
};

/* Those whose value is a number; of the others it is yes or no. */
#define NUMBERS (1U << MOD_C | 1U << MOD_LDLAT | 1U << MOD_FETHR)

/* A name as it is read. */
struct reading {
	const struct events *re_es;
	struct event_spec *re_sp;
	enum event_case re_fold;
	bool re_two; /* a modifier has two values */
};

/* The length of what stands before the next colon or dot, or the end. */
static size_t
part(const char *s)
{
	size_t len = 0;

	while (s[len] != '\0' && s[len] != ':' && s[len] != '.')
		len++;
	return len;
}

/* May a name of a table be spelled so? */
static bool
well_cased(const struct reading *re, const char *s, size_t len)
{
	bool upper = false, lower = false;

	for (size_t i = 0; i < len; i++) {
		upper |= event_lower(s[i]) != s[i];
		lower |= event_upper(s[i]) != s[i];
	}
	return re->re_fold == EVENT_ANY_CASE || !upper || !lower;
}

/* Keeps places in order, so that a set of unit masks has one spec. */
static enum event_error
umask_add(struct event_spec *sp, unsigned place)
{
	unsigned i, n = sp->sp_numask;

	for (i = 0; i < n && sp->sp_umask[i] < place; i++)
		;
	if (i < n && sp->sp_umask[i] == place)
		return EVENT_OK;
	if (n == EVENT_MAXUMASK)
		return EVENT_BAD_MIX;
	for (; n > i; n--)
		sp->sp_umask[n] = sp->sp_umask[n - 1];
	sp->sp_umask[i] = (uint8_t)place;
	sp->sp_numask++;
	return EVENT_OK;
}

static bool
number(const char *s, size_t len, uint64_t *value)
{
	unsigned base = 10, digit;
	size_t i = 0;
	char c;

	if (len > 2 && s[0] == '0' && event_lower(s[1]) == 'x') {
		base = 16;
		i = 2;
	} else if (len > 1 && s[0] == '0') {
		base = 8;
		i = 1;
	}
	if (i == len)
		return false;
	for (*value = 0; i < len; i++) {
		c = event_lower(s[i]);
		digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
		        : c >= 'a'           ? (unsigned)(c - 'a') + 10
		                             : base;
		if (digit >= base ||
		    __builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, digit, value))
			return false;
	}
	return true;
}

/* One letter: y, t, 1 or n, f, 0. */
static bool
yes_or_no(const char *s, size_t len, uint64_t *value)
{
	char c = event_lower(*s);

	*value = c == 'y' || c == 't' || c == '1';
	return len == 1 && (*value != 0 || c == 'n' || c == 'f' || c == '0');
}

static enum event_error
mod_add(struct reading *re, unsigned mod, const char *value, size_t len)
{
	struct event_spec *sp = re->re_sp;
	bool is_number = (NUMBERS >> mod & 1) != 0;
	uint64_t v = 1;

	if (value != NULL ? !(is_number ? number(value, len, &v)
					: yes_or_no(value, len, &v))
			  : is_number)
		return EVENT_BAD_VALUE;
	if (v > UINT32_MAX)
		return EVENT_BAD_VALUE;
	if ((sp->sp_given >> mod & 1) != 0 && sp->sp_value[mod] != v)
		re->re_two = true;
	sp->sp_given |= 1U << mod;
	sp->sp_value[mod] = (uint32_t)v;
	return EVENT_OK;
}

static int
mod_find(const struct reading *re, const char *s, size_t len)
{
	const char *name;
	size_t i;

	for (unsigned m = 0; m < MOD_N; m++) {
		if ((re->re_sp->sp_row->er_mods >> m & 1) == 0)
			continue;
		name = event_mod_names[m];
		for (i = 0; i < len; i++) {
			if (name[i] != (re->re_fold == EVENT_ANY_CASE
					       ? event_lower(s[i])
					       : s[i]))
				break;
		}
		if (i == len && name[len] == '\0')
			return (int)m;
	}
	return -1;
}

/* `:0x1f`: the only unit mask then. */
static enum event_error
raw_add(struct reading *re, const char *s, size_t len, bool has_value)
{
	struct event_spec *sp = re->re_sp;

	if (sp->sp_raw || sp->sp_numask > 0 ||
	    (re->re_es->es_pmu->ep_flags & PMU_RAW_UMASK) == 0 ||
	    !number(s, len, &sp->sp_rawmask))
		return EVENT_BAD_PART;
	if (has_value)
		return EVENT_BAD_VALUE;
	sp->sp_raw = true;
	return EVENT_OK;
}

static enum event_error parts_add(struct reading *re, const char *s);

static enum event_error
part_add(struct reading *re, const char *s, size_t len)
{
	size_t name = 0;
	const struct event_umask *um;
	const char *value = NULL;
	int n;

	while (name < len && s[name] != '=')
		name++;
	if (name < len)
		value = s + name + 1;
	if (name > 1 && s[0] == '0' && event_lower(s[1]) == 'x')
		return raw_add(re, s, name, value != NULL);
	n = value != NULL || !well_cased(re, s, name)
	        ? -1
	        : events_umask_find(re->re_es, re->re_sp->sp_row, s, name);
	if (n >= 0) {
		if (re->re_sp->sp_raw)
			return EVENT_BAD_PART;
		um = events_umask(re->re_es, re->re_sp->sp_row, (unsigned)n);
		if (um->um_equiv != 0)
			return parts_add(
			    re, events_text(re->re_es, um->um_equiv));
		return umask_add(re->re_sp, (unsigned)n);
	}
	if ((n = mod_find(re, s, name)) < 0)
		return EVENT_BAD_PART;
	return mod_add(
	    re, (unsigned)n, value, value != NULL ? len - name - 1 : 0);
}

/* What is behind the event, or what a unit mask stands for. */
static enum event_error
parts_add(struct reading *re, const char *s)
{
	enum event_error err;
	size_t len;

	for (;;) {
		len = part(s);
		if ((err = part_add(re, s, len)) != EVENT_OK)
			return err;
		if (s[len] == '\0')
			return EVENT_OK;
		s += len + 1;
	}
}

static enum event_error
row_find(struct reading *re, const char *s, size_t len)
{
	re->re_sp->sp_row =
	    well_cased(re, s, len) ? events_row(re->re_es, s, len) : NULL;
	return re->re_sp->sp_row != NULL ? EVENT_OK : EVENT_UNKNOWN;
}

/* The event, and what is behind it. */
static enum event_error
event_add(struct reading *re, const char *s, const char *equiv)
{
	size_t len = part(s);
	enum event_error err;

	if ((err = row_find(re, s, len)) != EVENT_OK)
		return err;
	/* One step: what an event stands for is taken as itself. */
	if (equiv == NULL && re->re_sp->sp_row->er_equiv != 0) {
		equiv = events_text(re->re_es, re->re_sp->sp_row->er_equiv);
		if ((err = event_add(re, equiv, equiv)) != EVENT_OK)
			return err;
	}
	return s[len] == '\0' ? EVENT_OK : parts_add(re, s + len + 1);
}

enum event_error
events_parse(const struct events *es, const char *name, enum event_case fold,
    struct event_spec *sp)
{
	struct reading re = { es, sp, fold, false };
	enum event_error err;

	*sp = (struct event_spec){ NULL };
	if (es->es_pmu == NULL)
		return EVENT_UNKNOWN;
	if ((err = event_add(&re, name, NULL)) != EVENT_OK)
		return err;
	return re.re_two ? EVENT_TWO_VALUES : EVENT_OK;
}
