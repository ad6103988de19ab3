/*
 * Names on a machine whose CPUs differ.
 *
 * `cpu_core/EVENT,cmask=1/u` names an event of one core type, in perf's form.
 * An LWP may run on any CPU.  So a name without a type must have the same code
 * on all types, on PICs that all have.
 */
#include "events/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the word before the first slash; 0: no such word. */
static size_t
word_length(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return name[n] == '/' ? n : 0;
}

static bool
is_type(const struct machine *mc, const char *word, size_t len)
{
	return strlen(mc->mc_pmu.pm_name) == len &&
	       memcmp(mc->mc_pmu.pm_name, word, len) == 0;
}

/* The machine of the core type that a name begins with, or NULL. */
static const struct machine *
type_of(const struct machine *mc, const char *name)
{
	size_t len = word_length(name);

	if (len == 0)
		return NULL;
	if (mc->mc_ntypes == 0)
		return is_type(mc, name, len) ? mc : NULL;
	for (unsigned t = 0; t < mc->mc_ntypes; t++) {
		if (is_type(&mc->mc_types[t], name, len))
			return &mc->mc_types[t];
	}
	return NULL;
}

/* Perf's names of a PMU that stand for no core type. */
static bool
is_generic(const char *name)
{
	return strncmp(name, "cpu/", 4) == 0 ||
	       strncmp(name, "armv8_pmuv3", 11) == 0;
}

/* Modifiers of the tables' names, for perf's fields next to a name. */
static const struct {
	const char *field, *modifier;
} fields[] = {
	{ "cmask", "c" },
	{ "inv", "i" },
	{ "edge", "e" },
	{ "any", "t" },
};

/* Append text to a name of CPC_MAX_EVENT_LEN bytes.  False: no room. */
static bool
append(char *buf, const char *text, size_t len)
{
	size_t at = strlen(buf);

	if (at + len >= CPC_MAX_EVENT_LEN)
		return false;
	memcpy(buf + at, text, len);
	buf[at + len] = '\0';
	return true;
}

/* Append a field `NAME` or `NAME=VALUE` as a modifier. */
static bool
append_field(char *buf, const char *s, size_t len)
{
	size_t name = 0, i = 0;

	while (name < len && s[name] != '=')
		name++;
	while (i < sizeof fields / sizeof fields[0] &&
	       (strlen(fields[i].field) != name ||
		   memcmp(fields[i].field, s, name) != 0))
		i++;
	return i < sizeof fields / sizeof fields[0] && append(buf, ":", 1) &&
	       append(buf, fields[i].modifier, 1) &&
	       append(buf, s + name, len - name);
}

/*
 * Write `EVENT,FIELD,.../` to buf as a name of the tables, EVENT:MODIFIER...
 * Returns the text after the slash, or NULL.
 */
static const char *
as_name(const char *s, char *buf)
{
	size_t len = strcspn(s, ",/");

	buf[0] = '\0';
	if (len == 0 || !append(buf, s, len))
		return NULL;
	for (s += len; *s == ','; s += len) {
		len = strcspn(++s, ",/");
		if (!append_field(buf, s, len))
			return NULL;
	}
	return *s == '/' ? s + 1 : NULL;
}

/* Add the privileges of `u`, `k` or `:uk` to an event. */
static bool
add_levels(const char *s, struct cpc_event *ce)
{
	uint32_t levels = 0;

	if (s[0] == ':' && s[1] != '\0')
		s++;
	for (; *s == 'u' || *s == 'k'; s++)
		levels |= *s == 'u' ? CPC_COUNT_USER : CPC_COUNT_SYSTEM;
	if (levels != 0)
		ce->ce_flags |= CPC_EVENT_LEVELS | levels
		                                       << CPC_EVENT_LEVEL_SHIFT;
	return *s == '\0';
}

/* Resolve the text between the slashes. */
static bool
resolve_inside(
    const struct machine *mc, const char *inside, struct cpc_event *ce)
{
	char name[CPC_MAX_EVENT_LEN + EVENT_WORD] = "", *end;
	const char *levels = as_name(inside, name);
	uint64_t num = strtoull(name, &end, 0);

	return levels != NULL &&
	       machine_event_alone(mc, name, *end == '\0', num, ce) &&
	       add_levels(levels, ce);
}

/* Resolve a name that begins with this type's name, or with none. */
static bool
resolve_typed(const struct machine *mc, const char *name, bool is_num,
    uint64_t num, struct cpc_event *ce)
{
	size_t word = word_length(name);

	/* The raw form of perf takes any word. */
	if (!machine_event_alone(mc, name, is_num, num, ce) &&
	    (word == 0 || !resolve_inside(mc, name + word + 1, ce)))
		return false;
	ce->ce_flags |= mc->mc_pmu.pm_type << CPC_EVENT_TYPE_SHIFT;
	return true;
}

static bool
is_same(const struct cpc_event *a, const struct cpc_event *b)
{
	const uint32_t lacking = CPC_EVENT_LACKING;

	return a->ce_code == b->ce_code && a->ce_extra == b->ce_extra &&
	       (a->ce_flags | lacking) == (b->ce_flags | lacking);
}

/* How many types resolve the name; *ce is the first's, *same: all alike. */
static unsigned
resolve_all(const struct machine *mc, const char *name, bool is_num,
    uint64_t num, struct cpc_event *ce, bool *same)
{
	struct cpc_event one;
	unsigned n = 0;

	*same = true;
	for (unsigned t = 0; t < mc->mc_ntypes; t++) {
		if (!machine_event_alone(
			&mc->mc_types[t], name, is_num, num, &one))
			continue;
		if (n++ == 0)
			*ce = one;
		*same &= is_same(ce, &one);
		ce->ce_pics &= one.ce_pics;
		ce->ce_flags |= one.ce_flags & CPC_EVENT_LACKING;
	}
	return n;
}

bool
machine_event_typed(const struct machine *mc, const char *name, bool is_num,
    uint64_t num, struct cpc_event *ce)
{
	const struct machine *type = type_of(mc, name);
	bool same;

	if (type == NULL && word_length(name) != 0 && !is_generic(name))
		return false;
	if (type == NULL && mc->mc_ntypes == 0)
		type = mc;
	if (type != NULL)
		return resolve_typed(type, name, is_num, num, ce);
	if (resolve_all(mc, name, is_num, num, ce, &same) != mc->mc_ntypes)
		return false;
	ce->ce_pics &= mc->mc_pmu.pm_pics;
	return same && ce->ce_pics != 0;
}

bool
machine_next_shared(const struct machine *mc, uint64_t pics, bool generic,
    struct machine_list *ml, char *buf, size_t size)
{
	struct cpc_event ce;

	while (machine_next(&mc->mc_types[0], ~0ULL, generic, ml, buf, size)) {
		if (machine_event_typed(mc, buf, false, 0, &ce) &&
		    (ce.ce_pics & pics) != 0 &&
		    (ce.ce_flags & CPC_EVENT_LACKING) == 0)
			return true;
	}
	return false;
}

/* Refusals */

#define TYPE_NAMES 128

/* The names of the types, as "cpu_core and cpu_atom".  May be in `text`. */
static const char *
type_names(const struct machine *mc, char text[TYPE_NAMES])
{
	unsigned n = mc->mc_ntypes;
	size_t at = 0;

	if (n == 0)
		return mc->mc_pmu.pm_name;
	for (unsigned t = 0; t < n; t++)
		at += (size_t)snprintf(text + at, TYPE_NAMES - at, "%s%s",
		    t == 0       ? ""
		    : t == n - 1 ? " and "
				 : ", ",
		    mc->mc_types[t].mc_pmu.pm_name);
	return text;
}

/* Why does a name fail that some type resolves?  `first` is such a type. */
static void
say_not_shared(const struct machine *mc, unsigned n, bool same,
    const char *first, const char *name, char *buf, size_t size)
{
	char names[TYPE_NAMES];

	if (n < mc->mc_ntypes)
		snprintf(buf, size, "not all of %s count it: write %s/%.300s/",
		    type_names(mc, names), first, name);
	else if (!same)
		snprintf(buf, size,
		    "%s count it by different codes: name one, as %s/%.300s/",
		    type_names(mc, names), first, name);
	else
		snprintf(buf, size,
		    "no PIC that %s share counts it: write %s/%.300s/",
		    type_names(mc, names), first, name);
}

bool
machine_why_typed(
    const struct machine *mc, const char *name, char *buf, size_t size)
{
	char padded[CPC_MAX_EVENT_LEN + EVENT_WORD] = "", names[TYPE_NAMES];
	const struct machine *type = type_of(mc, name);
	struct cpc_event ce;
	unsigned n, t = 0;
	bool same;

	if (type != NULL) {
		as_name(name + word_length(name) + 1, padded);
		machine_why_alone(type, padded, buf, size);
		return true;
	}
	if (word_length(name) != 0 && !is_generic(name)) {
		snprintf(buf, size, "no core type %.*s: there is %s",
		    (int)word_length(name), name, type_names(mc, names));
		return true;
	}
	strcpy(padded, name);
	n = resolve_all(mc, padded, false, 0, &ce, &same);
	if (n == 0)
		return false;
	while (!machine_event_alone(&mc->mc_types[t], padded, false, 0, &ce))
		t++;
	say_not_shared(
	    mc, n, same, mc->mc_types[t].mc_pmu.pm_name, name, buf, size);
	return true;
}
