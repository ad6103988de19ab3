/*
 * Parse a name: find its row and unit masks, and the values of its modifiers.
 */
#include "events/names/find.h"
#include "events/names/preset.h"
#include "events/names/text.h"

/* Modifiers whose value is a number.  The others are yes or no. */
#define NUMBERS (1U << MOD_C | 1U << MOD_LDLAT | 1U << MOD_THR)

/* Modifiers of one letter, and then the longer ones: a word holds each. */
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
static const struct mod_word {
	char mw_name[EVENT_WORD];
	uint8_t mw_len;
	int8_t mw_mod;
} mod_words[] = {
	{ "intx", 4, MOD_INTX },
	{ "intxcp", 6, MOD_INTXCP },
	{ "ldlat", 5, MOD_LDLAT },
	{ "hv", 2, MOD_HV },
	{ "cmpl", 4, MOD_CMPL },
	{ "thr", 3, MOD_THR },
};

/* The state of the parser. */
struct reading {
	const struct events *re_es;
	struct event_spec *re_sp;
	enum event_case re_fold;
	bool re_two; /* a modifier has two values */
	struct event_key re_key;
};

/* May the key, read from s, be spelled so?  See enum event_case. */
static inline bool
well_cased(const struct reading *re, const char *s, unsigned name)
{
	const struct event_key *key = &re->re_key;

	return key->ek_small == 0 || re->re_fold == EVENT_ANY_CASE ||
	       !event_has_capital(s, key->ek_len) ||
	       event_prefix(s, events_text(re->re_es, name)) == key->ek_len;
}

/* Does c end a part with its value? */
static bool
is_end(char c)
{
	return c == ':' || c == '.' || c == '\0';
}

/* Does c end a part? */
static bool
is_part_end(char c)
{
	return c == '=' || is_end(c);
}

/* Keep places in order, so that a set of unit masks has one spec. */
static enum event_error
umask_insert(struct event_spec *sp, unsigned place)
{
	unsigned i, n = sp->spc_numask;

	for (i = n; i > 0 && sp->spc_umask[i - 1] >= place; i--) {
		if (sp->spc_umask[i - 1] == place)
			return EVENT_OK;
	}
	if (n == EVENT_MAXUMASK)
		return EVENT_BAD_MIX;
	for (; n > i; n--)
		sp->spc_umask[n] = sp->spc_umask[n - 1];
	sp->spc_umask[i] = (uint16_t)place;
	sp->spc_numask++;
	return EVENT_OK;
}

/* The same; fast if the place comes after all others, as it mostly does. */
static inline enum event_error
umask_add(struct event_spec *sp, unsigned place)
{
	unsigned n = sp->spc_numask;

	if (n == EVENT_MAXUMASK || (n > 0 && sp->spc_umask[n - 1] >= place))
		return umask_insert(sp, place);
	sp->spc_umask[n] = (uint16_t)place;
	sp->spc_numask = (uint8_t)(n + 1);
	return EVENT_OK;
}

static void
mod_set(struct reading *re, unsigned mod, uint32_t value)
{
	struct event_spec *sp = re->re_sp;

	if ((sp->spc_given >> mod & 1) != 0 && sp->spc_value[mod] != value)
		re->re_two = true;
	sp->spc_given |= 1U << mod;
	sp->spc_value[mod] = value;
}

/* Add the unit masks and modifiers of an alias. */
static enum event_error
alias_add(struct reading *re, const uint8_t *alias)
{
	struct event_spec *sp = re->re_sp;
	enum event_error err;
	unsigned n = *alias++;

	if (sp->spc_numask == 0) {
		/* The alias has them in order. */
		sp->spc_numask = (uint8_t)n;
#pragma GCC unroll 4
		for (unsigned i = 0; i < n; i++)
			sp->spc_umask[i] = *alias++;
		n = 0;
	}
	for (; n > 0; n--) {
		if ((err = umask_add(sp, *alias++)) != EVENT_OK)
			return err;
	}
	for (n = *alias++; n > 0; n--, alias += 2)
		mod_set(re, alias[0], alias[1]);
	return EVENT_OK;
}

/* The same for an event's alias, which begins with a row. */
static enum event_error
alias_add_event(struct reading *re, unsigned at)
{
	const uint8_t *alias = event_alias(re->re_es, at);

	re->re_sp->spc_row =
	    event_row_at(re->re_es, alias[0] | (unsigned)alias[1] << 8);
	return alias_add(re, alias + 2);
}

static bool
parse_number(const char *s, size_t len, uint64_t *value)
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
	if (len == 1 && (*s == '0' || *s == '1')) {
		*value = *s == '1';
		return true;
	}
	char c = event_lower(*s);
	*value = c == 'y' || c == 't' || c == '1';
	return len == 1 && (*value != 0 || c == 'n' || c == 'f' || c == '0');
}

/* Does text begin with this modifier? */
static bool
is_mod_word(const struct mod_word *mw, uint64_t text, enum event_case fold)
{
	uint64_t differ = text ^ event_word(mw->mw_name);

	if (fold == EVENT_ANY_CASE)
		differ &= ~EVENT_BYTES(0x20);
	return differ << 8 * (EVENT_WORD - mw->mw_len) == 0;
}

/* The modifier of several letters that s begins with, and its length; or -1. */
static int
mod_of_word(const struct reading *re, const char *s, size_t *len)
{
	const struct mod_word *mw = mod_words;
	uint64_t text = event_word(s);

	for (; mw < mod_words + sizeof mod_words / sizeof *mod_words; mw++) {
		*len = mw->mw_len;
		if (is_mod_word(mw, text, re->re_fold) && is_part_end(s[*len]))
			return mw->mw_mod;
	}
	return -1;
}

/* The modifier that s begins with, and its length; or -1. */
static inline int
mod_find(const struct reading *re, const char *s, size_t *len)
{
	char c = re->re_fold == EVENT_ANY_CASE ? event_lower(*s) : *s;

	if (c < 'a' || c > 'z')
		return -1;
	if (!is_part_end(s[1]))
		return mod_of_word(re, s, len);
	*len = 1;
	return mod_letters[c - 'a'] - 1;
}

/* Add a modifier with its value, which has len letters, or NULL. */
static enum event_error
mod_add(struct reading *re, int mod, const char *value, size_t len)
{
	uint64_t v = 1;

	if (mod < 0 || (re->re_sp->spc_row->er_mods >> mod & 1) == 0)
		return EVENT_BAD_PART;
	bool is_number = (NUMBERS >> mod & 1) != 0;
	if (value != NULL ? !(is_number ? parse_number(value, len, &v)
					: yes_or_no(value, len, &v))
			  : is_number)
		return EVENT_BAD_VALUE;
	if (v > UINT32_MAX)
		return EVENT_BAD_VALUE;
	mod_set(re, (unsigned)mod, (uint32_t)v);
	return EVENT_OK;
}

/* Add a unit mask as a number, `:0x1f`.  No other is allowed then. */
static enum event_error
raw_add(struct reading *re, const char *s, char end)
{
	struct event_spec *sp = re->re_sp;

	if (sp->spc_raw || sp->spc_numask > 0 ||
	    (re->re_es->es_pmu->ep_flags & PMU_RAW_UMASK) == 0 ||
	    !parse_number(s, re->re_key.ek_len, &sp->spc_rawmask))
		return EVENT_BAD_PART;
	if (end == '=')
		return EVENT_BAD_VALUE;
	if (!is_end(end))
		return EVENT_BAD_PART;
	sp->spc_raw = true;
	return EVENT_OK;
}

/* Add the unit mask of the key, read from s; false if no mask has the name. */
static bool
mask_add(struct reading *re, const char *s, enum event_error *err)
{
	const struct events *es = re->re_es;
	struct event_spec *sp = re->re_sp;
	int n = event_umask_find(es, sp->spc_row, &re->re_key);
	const struct event_umask *um;

	if (n < 0)
		return false;
	um = event_umask_at(es, sp->spc_row, (unsigned)n);
	if (!well_cased(re, s, um->um_name))
		return false;
	if (sp->spc_raw)
		*err = EVENT_BAD_PART;
	else if (um->um_alias != 0)
		*err = alias_add(re, event_alias(es, um->um_alias));
	else
		*err = umask_add(sp, (unsigned)n);
	return true;
}

static size_t
value_len(const char *s)
{
	size_t n = 0;

	while (!is_end(s[n]))
		n++;
	return n;
}

/*
 * Add a modifier with the value 0 or 1, `:k=1`, and move *s to its end.  Names
 * in full have many of these.
 */
static bool
mod_add_bit(struct reading *re, const char **s)
{
	const char *value = *s + 2;
	int mod = mod_letters[(*s)[1] - 'a'] - 1;
	size_t len;

	if (*value != '=') {
		mod = mod_of_word(re, *s + 1, &len);
		value = *s + 1 + len;
	}
	if (mod < 0 || value[0] != '=' ||
	    (value[1] != '0' && value[1] != '1') || !is_end(value[2]) ||
	    (re->re_sp->spc_row->er_mods >> mod & 1) == 0)
		return false;
	mod_set(re, (unsigned)mod, value[1] == '1');
	*s = value + 2;
	return true;
}

static bool
is_dotted(char c)
{
	return c == '.' || c == '_' || (c >= '0' && c <= '9') ||
	       (event_upper(c) >= 'A' && event_upper(c) <= 'Z');
}

/*
 * Add the unit mask at *s, whose name may have a dot for each `_`.  Move *s to
 * its end.  A modifier may follow a dot, as in `DEMAND_DATA_RD.L3_HIT.u`.  So
 * the longest name that exists is added.
 */
static bool
dotted_add(struct reading *re, const char **s, enum event_error *err)
{
	char text[EVENT_MAXNAME + 1 + EVENT_WORD] = "";
	size_t n;

	for (n = 0; n < EVENT_MAXNAME && is_dotted((*s)[n]); n++)
		text[n] = (*s)[n] == '.' ? '_' : (*s)[n];
	while (n > 0) {
		text[n] = '\0';
		event_key(&re->re_key, text);
		if (is_end((*s)[n]) && mask_add(re, text, err)) {
			*s += n;
			return true;
		}
		while (--n > 0 && (*s)[n] != '.')
			;
	}
	return false;
}

/*
 * The same for `request=X:response=Y`, as Intel's list of Cascade Lake has it,
 * of the unit mask X_Y.
 */
static bool
request_add(struct reading *re, const char **s, enum event_error *err)
{
	/* Both are read by words, past their end. */
	static const char request[16] = "request=", response[24] = ":response=";
	char text[EVENT_MAXNAME + 2 + EVENT_WORD] = "";
	const char *at = *s + event_prefix(*s, request), *begin = at;
	const char *part = text, *dot = NULL;
	size_t n, skip;

	for (n = 0; at > *s && *at != '\0' && n <= EVENT_MAXNAME; n++) {
		text[n] = *at;
		skip = dot == NULL ? event_prefix(at, response) : 0;
		if (skip > 0) {
			dot = at;
			text[n] = '.';
		}
		at += skip > 0 ? skip : 1;
	}
	if (dot == NULL || !dotted_add(re, &part, err))
		return false;
	*s = begin + (part - text);
	if (*s > dot) /* the text has one letter of it */
		*s += event_prefix(dot, response) - 1;
	return true;
}

/* Add the unit mask or modifier at *s, and move *s to its end. */
static enum event_error
part_add(struct reading *re, const char **s)
{
	const char *begin = *s, *value;
	enum event_error err;
	size_t len;
	int mod = mod_find(re, begin, &len);

	if (mod >= 0 && begin[len] == '=') {
		value = begin + len + 1;
		len = value_len(value);
		*s = value + len;
		return mod_add(re, mod, value, len);
	}
	*s = event_key(&re->re_key, begin);
	if ((**s == '.' || **s == '=') &&
	    (re->re_sp->spc_row->er_flags & ER_DOTTED) != 0) {
		*s = begin;
		if (dotted_add(re, s, &err) || request_add(re, s, &err))
			return err;
		*s = event_key(&re->re_key, begin);
	}
	if (begin[0] == '0' && event_lower(begin[1]) == 'x')
		return raw_add(re, begin, **s);
	if (!is_end(**s))
		return EVENT_BAD_PART;
	if (mask_add(re, begin, &err))
		return err;
	return mod_add(re, mod, NULL, 0);
}

/*
 * Add the unit masks at *s that follow the last one in the order of the list,
 * and move *s to their end.  Names in full have that order, without aliases,
 * so these need no search.
 */
static bool
masks_add_listed(struct reading *re, const char **s)
{
	const struct events *es = re->re_es;
	const struct event_umask *all = es->es_db->ed_at[SECTION_UMASKS], *um;
	const uint16_t *list = event_list(es, re->re_sp->spc_row);
	const char *names = events_text(es, 0), *end = *s;
	unsigned n = re->re_sp->spc_numask, had = n, place, last;
	unsigned model = es->es_pmu->ep_model;
	size_t len;

	if (n == 0)
		return false;
	place = re->re_sp->spc_umask[n - 1] + 1U;
	last = re->re_sp->spc_row->er_nlist;
	for (; place < last && *end != '\0'; place++) {
		um = &all[list[place] & LIST_UMASK];
		if (um->um_alias != 0 || (um->um_models & model) == 0)
			continue;
		len = event_prefix(
		    end + 1, names + EVENT_NAME_ALIGN * um->um_name);
		if (len == 0 || !is_end(end[1 + len]) || n == EVENT_MAXUMASK)
			break;
		re->re_sp->spc_umask[n++] = (uint16_t)place;
		end += 1 + len;
	}
	re->re_sp->spc_numask = (uint8_t)n;
	*s = end;
	return n > had;
}

/* The text after `skl::`, if that is this PMU; else NULL. */
static const char *
after_pmu(const struct reading *re, const char *s)
{
	const char *pmu = re->re_es->es_pmu->ep_name;
	bool any = re->re_fold == EVENT_ANY_CASE;

	for (; *pmu != '\0'; pmu++, s++) {
		if (*s != *pmu && (!any || event_lower(*s) != *pmu))
			return NULL;
	}
	return s[0] == ':' && s[1] == ':' ? s + 2 : NULL;
}

/* Find the event.  Returns the end of its name, or NULL if it is unknown. */
static const char *
event_add(struct reading *re, const char *s, enum event_error *err)
{
	const char *end = event_key(&re->re_key, s);
	const struct event_row *row = event_row_find(re->re_es, &re->re_key);

	/* A PMU's name is rare, so the event is tried first. */
	if (row == NULL && (s = after_pmu(re, s)) != NULL) {
		end = event_key(&re->re_key, s);
		row = event_row_find(re->re_es, &re->re_key);
	}
	if (row == NULL || !is_end(*end) || !well_cased(re, s, row->er_name)) {
		*err = EVENT_UNKNOWN;
		return NULL;
	}
	re->re_sp->spc_row = row;
	*err = EVENT_OK;
	if (row->er_alias != 0)
		*err = alias_add_event(re, row->er_alias);
	return end;
}

void
event_preset_spec(const struct events *es, const struct event_preset *pr,
    struct event_spec *sp)
{
	struct reading re = { .re_es = es, .re_sp = sp };

	*sp = (struct event_spec){ .spc_preset = true };
	alias_add_event(&re, pr->pr_event);
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
events_parse_padded(const struct events *es, const char *name,
    enum event_case fold, struct event_spec *sp)
{
	struct reading re;
	enum event_error err;

	/* The unit masks need no zeros. */
	sp->spc_row = NULL;
	sp->spc_numask = 0;
	sp->spc_preset = sp->spc_raw = false;
	sp->spc_rawmask = 0;
	sp->spc_given = 0;
	for (unsigned m = 0; m < MOD_N; m++)
		sp->spc_value[m] = 0;
	if (es->es_pmu == NULL)
		return EVENT_UNKNOWN;
	if (event_upper(*name) == 'P' && events_is_preset(name))
		return preset_parse(es, name, fold, sp);
	re.re_es = es;
	re.re_sp = sp;
	re.re_fold = fold;
	re.re_two = false;
	name = event_add(&re, name, &err);
	while (err == EVENT_OK && *name != '\0') {
		/* Small letters are a modifier's: few unit masks have any. */
		if (name[1] >= 'a' && name[1] <= 'z'
			? mod_add_bit(&re, &name)
			: masks_add_listed(&re, &name))
			continue;
		name++;
		err = part_add(&re, &name);
	}
	if (err != EVENT_OK)
		return err;
	return re.re_two ? EVENT_TWO_VALUES : EVENT_OK;
}

enum event_error
events_parse(const struct events *es, const char *name, enum event_case fold,
    struct event_spec *sp)
{
	char padded[EVENT_MAXTEXT + 1 + EVENT_WORD];

	if (!event_pad(padded, name, EVENT_MAXTEXT))
		return EVENT_UNKNOWN;
	return events_parse_padded(es, padded, fold, sp);
}
