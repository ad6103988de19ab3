/*
 * From a name to the rows and values it consists of.
 */
#include "events/find.h"
#include "events/preset.h"
#include "events/text.h"

/* Those whose value is a number; of the others it is yes or no. */
#define NUMBERS                                                                \
	(1U << MOD_C | 1U << MOD_LDLAT | 1U << MOD_FETHR | 1U << MOD_THR)

/* Those of one letter; of others the names in capitals, each a word. */
static const int8_t mod_letters[26] = {
	['c' - 'a'] = MOD_C + 1,
	['e' - 'a'] = MOD_E + 1,
	['g' - 'a'] = MOD_G + 1,
	['h' - 'a'] = MOD_H + 1,
	['i' - 'a'] = MOD_I + 1,
	['k' - 'a'] = MOD_K + 1,
	['t' - 'a'] = MOD_T + 1,
	['u' - 'a'] = MOD_U + 1,
};
static const struct {
	char name[EVENT_WORD];
	int8_t mod;
} mod_words[] = {
	{ "LDLAT", MOD_LDLAT },
	{ "INTX", MOD_INTX },
	{ "INTXCP", MOD_INTXCP },
	{ "FE_THRES", MOD_FETHR },
	{ "HV", MOD_HV },
	{ "CMPL", MOD_CMPL },
	{ "THR", MOD_THR },
};

/* A name as it is read. */
struct reading {
	const struct events *re_es;
	struct event_spec *re_sp;
	enum event_case re_fold;
	bool re_two; /* a modifier has two values */
	struct event_key re_key;
};

/* Letters of both cases: may a name of a table be spelled so? */
static bool
mixed_well(const struct reading *re, const char *s, unsigned name)
{
	const char *listed = events_text(re->re_es, name);
	size_t i = 0;

	if (re->re_fold == EVENT_ANY_CASE)
		return true;
	while (i < re->re_key.ek_len && s[i] == listed[i])
		i++;
	return i == re->re_key.ek_len;
}

static bool
well_cased(const struct reading *re, const char *s, unsigned name)
{
	return re->re_key.ek_seen != KEY_MIXED || mixed_well(re, s, name);
}

/* Keeps places in order, so that a set of unit masks has one spec. */
static enum event_error
umask_insert(struct event_spec *sp, unsigned place)
{
	unsigned i, n = sp->sp_numask;

	for (i = n; i > 0 && sp->sp_umask[i - 1] >= place; i--) {
		if (sp->sp_umask[i - 1] == place)
			return EVENT_OK;
	}
	if (n == EVENT_MAXUMASK)
		return EVENT_BAD_MIX;
	for (; n > i; n--)
		sp->sp_umask[n] = sp->sp_umask[n - 1];
	sp->sp_umask[i] = (uint8_t)place;
	sp->sp_numask++;
	return EVENT_OK;
}

static enum event_error
umask_add(struct event_spec *sp, unsigned place)
{
	if (sp->sp_numask > 0)
		return umask_insert(sp, place);
	sp->sp_umask[sp->sp_numask++] = (uint8_t)place;
	return EVENT_OK;
}

static void
mod_set(struct reading *re, unsigned mod, uint32_t value)
{
	struct event_spec *sp = re->re_sp;

	if ((sp->sp_given >> mod & 1) != 0 && sp->sp_value[mod] != value)
		re->re_two = true;
	sp->sp_given |= 1U << mod;
	sp->sp_value[mod] = value;
}

/* What a name stands for: unit masks and modifiers of the row. */
static enum event_error
stands_add(struct reading *re, const uint8_t *stands)
{
	struct event_spec *sp = re->re_sp;
	enum event_error err;
	unsigned n = *stands++;

	if (sp->sp_numask == 0) {
		/* They are in order. */
		for (; sp->sp_numask < n; sp->sp_numask++)
			sp->sp_umask[sp->sp_numask] = *stands++;
		n = 0;
	}
	for (; n > 0; n--) {
		if ((err = umask_add(sp, *stands++)) != EVENT_OK)
			return err;
	}
	for (n = *stands++; n > 0; n--, stands += 2)
		mod_set(re, stands[0], stands[1]);
	return EVENT_OK;
}

/* The same of an event: a row goes before. */
static enum event_error
stands_for(struct reading *re, unsigned at)
{
	const uint8_t *stands = event_stands(re->re_es, at);

	re->re_sp->sp_row = event_row_at(re->re_es, *stands);
	return stands_add(re, stands + 1);
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
	char c;

	if (len == 1 && (*s == '0' || *s == '1')) {
		*value = *s == '1';
		return true;
	}
	c = event_lower(*s);
	*value = c == 'y' || c == 't' || c == '1';
	return len == 1 && (*value != 0 || c == 'n' || c == 'f' || c == '0');
}

/* A modifier by its letter, or -1. */
static int
mod_of_letter(const struct reading *re, char c)
{
	if (re->re_fold == EVENT_ANY_CASE)
		c = event_lower(c);
	return c >= 'a' && c <= 'z' ? mod_letters[c - 'a'] - 1 : -1;
}

/* That of the name that has just been read, or -1. */
static int
mod_of_word(const struct reading *re)
{
	uint64_t word = event_word(re->re_key.ek_text);

	if (re->re_key.ek_len > EVENT_WORD ||
	    ((re->re_key.ek_seen & KEY_UPPER) != 0 &&
		re->re_fold != EVENT_ANY_CASE))
		return -1;
	for (unsigned i = 0; i < sizeof mod_words / sizeof mod_words[0]; i++) {
		if (event_word(mod_words[i].name) == word)
			return mod_words[i].mod;
	}
	return -1;
}

/* With its value, of len letters, or NULL. */
static enum event_error
mod_add(struct reading *re, int mod, const char *value, size_t len)
{
	bool is_number;
	uint64_t v = 1;

	if (mod < 0 || (re->re_sp->sp_row->er_mods >> mod & 1) == 0)
		return EVENT_BAD_PART;
	is_number = (NUMBERS >> mod & 1) != 0;
	if (value != NULL ? !(is_number ? number(value, len, &v)
					: yes_or_no(value, len, &v))
			  : is_number)
		return EVENT_BAD_VALUE;
	if (v > UINT32_MAX)
		return EVENT_BAD_VALUE;
	mod_set(re, (unsigned)mod, (uint32_t)v);
	return EVENT_OK;
}

/* `:0x1f`: the only unit mask then. */
static enum event_error
raw_add(struct reading *re, const char *s, bool has_value)
{
	struct event_spec *sp = re->re_sp;

	if (sp->sp_raw || sp->sp_numask > 0 ||
	    (re->re_es->es_pmu->ep_flags & PMU_RAW_UMASK) == 0 ||
	    !number(s, re->re_key.ek_len, &sp->sp_rawmask))
		return EVENT_BAD_PART;
	if (has_value)
		return EVENT_BAD_VALUE;
	sp->sp_raw = true;
	return EVENT_OK;
}

/* The unit mask that has just been read, from s; false: there is none. */
static bool
mask_add(struct reading *re, const char *s, enum event_error *err)
{
	const struct events *es = re->re_es;
	struct event_spec *sp = re->re_sp;
	int n = event_umask_find(es, sp->sp_row, &re->re_key);
	const struct event_umask *um;

	if (n < 0)
		return false;
	um = event_umask_at(es, sp->sp_row, (unsigned)n);
	if (!well_cased(re, s, um->um_name))
		return false;
	if (sp->sp_raw)
		*err = EVENT_BAD_PART;
	else if (um->um_stands != 0)
		*err = stands_add(re, event_stands(es, um->um_stands));
	else
		*err = umask_add(sp, (unsigned)n);
	return true;
}

static size_t
value_len(const char *s)
{
	size_t n = 0;

	while (s[n] != '\0' && s[n] != ':' && s[n] != '.')
		n++;
	return n;
}

/* What stands behind a colon or dot; *s is moved to the next, or the end. */
static enum event_error
part_add(struct reading *re, const char **s)
{
	const char *begin = *s, *end;
	enum event_error err;
	size_t len;

	/* Most parts of a name in full are so short. */
	if (begin[0] != '\0' && begin[1] == '=') {
		len = value_len(begin + 2);
		*s = begin + 2 + len;
		return mod_add(re, mod_of_letter(re, begin[0]), begin + 2, len);
	}
	end = *s = event_key(&re->re_key, begin);
	len = 0;
	if (*end == '=') {
		len = value_len(end + 1);
		*s = end + 1 + len;
	}
	if (begin[0] == '0' && event_lower(begin[1]) == 'x')
		return raw_add(re, begin, *end == '=');
	if (*end != '=' && mask_add(re, begin, &err))
		return err;
	return mod_add(re,
	    re->re_key.ek_len == 1 ? mod_of_letter(re, begin[0])
				   : mod_of_word(re),
	    *end == '=' ? end + 1 : NULL, len);
}

/* The event; returns where its name ends, or NULL: there is none. */
static const char *
event_add(struct reading *re, const char *s, enum event_error *err)
{
	const char *end = event_key(&re->re_key, s);
	const struct event_row *row = event_row_find(re->re_es, &re->re_key);

	if (row == NULL || *end == '=' || !well_cased(re, s, row->er_name)) {
		*err = EVENT_UNKNOWN;
		return NULL;
	}
	re->re_sp->sp_row = row;
	*err = EVENT_OK;
	if (row->er_stands != 0)
		*err = stands_for(re, row->er_stands);
	return end;
}

/* What stands behind `skl::`, where that is this PMU, or NULL. */
static const char *
behind_pmu(const struct reading *re, const char *s)
{
	const char *pmu = re->re_es->es_pmu->ep_name;
	bool any = re->re_fold == EVENT_ANY_CASE;

	for (; *pmu != '\0'; pmu++, s++) {
		if (*s != *pmu && (!any || event_lower(*s) != *pmu))
			return NULL;
	}
	return s[0] == ':' && s[1] == ':' ? s + 2 : NULL;
}

void
event_preset_spec(const struct events *es, const struct event_preset *pr,
    struct event_spec *sp)
{
	struct reading re = { .re_es = es, .re_sp = sp };

	*sp = (struct event_spec){ .sp_preset = true };
	stands_for(&re, pr->pr_event);
}

static enum event_error
preset_parse(const struct events *es, const char *name, enum event_case fold,
    struct event_spec *sp)
{
	const struct event_preset *pr =
	    event_preset_find(es, event_preset_number(name, fold));

	if (pr == NULL || pr->pr_why != PRESET_EXACT)
		return EVENT_NO_PRESET;
	event_preset_spec(es, pr, sp);
	return EVENT_OK;
}

enum event_error
events_parse(const struct events *es, const char *name, enum event_case fold,
    struct event_spec *sp)
{
	struct reading re;
	enum event_error err;
	const char *rest;

	*sp = (struct event_spec){ NULL };
	if (es->es_pmu == NULL)
		return EVENT_UNKNOWN;
	if (events_is_preset(name))
		return preset_parse(es, name, fold, sp);
	re.re_es = es;
	re.re_sp = sp;
	re.re_fold = fold;
	re.re_two = false;
	rest = event_add(&re, name, &err);
	/* A PMU's name is rare: events are sought first. */
	if (rest == NULL && (name = behind_pmu(&re, name)) != NULL)
		rest = event_add(&re, name, &err);
	name = rest;
	while (err == EVENT_OK && *name != '\0') {
		name++;
		err = part_add(&re, &name);
	}
	if (err != EVENT_OK)
		return err;
	return re.re_two ? EVENT_TWO_VALUES : EVENT_OK;
}
