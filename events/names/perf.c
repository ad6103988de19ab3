/*
 * Raw events in perf's forms.  `r1a8` is the config in hex.
 * `cpu/event=0xa8,umask=0x1,cmask=1,inv/` names its fields.  Three fields are
 * values of Intel's extra MSRs: `cpu/event=0xcd,umask=1,ldlat=3/`.
 * Source: man perf-list, "RAW HARDWARE EVENT DESCRIPTOR"; the fields are those
 * of /sys/bus/event_source/devices/<pmu>/format.
 */
#include "events/events.h"
#include "events/names/text.h"
#include "events/select.h"

/* The bits of event, unit mask, `e`, `i` and `c`. */
#define X86_CONFIG 0xff84ffffULL
/* any thread, eq, second unit mask */
#define INTEL_CONFIG (X86_CONFIG | 1ULL << 21 | 1ULL << 36 | 0xffULL << 40)
#define AMD_CONFIG   (X86_CONFIG | 0xfULL << 32) /* event 11:8 */
#define ARM_CONFIG   0xffffULL

#define AMD_EVENT_MAX   0xfff
#define INTEL_UMASK_MAX 0xffff /* two unit masks */

#define NO_ARM (1U << EVENT_INTEL | 1U << EVENT_AMD)
#define ALL    (NO_ARM | 1U << EVENT_ARM)

/* The fields: kinds of PMU, lowest bit, largest value. */
static const struct field {
	const char *fd_name;
	unsigned fd_kinds; /* bit n: enum event_kind n */
	unsigned fd_at;
	uint64_t fd_max;
} fields[] = {
	{ "event", 1U << EVENT_ARM, 0, 0xffff },
	{ "event", 1U << EVENT_INTEL, 0, 0xff },
	{ "event", 1U << EVENT_AMD, 0, AMD_EVENT_MAX },
	{ "umask", 1U << EVENT_INTEL, 8, INTEL_UMASK_MAX },
	{ "umask", 1U << EVENT_AMD, 8, 0xff },
	{ "edge", NO_ARM, 18, 1 },
	{ "any", 1U << EVENT_INTEL, 21, 1 },
	{ "inv", NO_ARM, 23, 1 },
	{ "cmask", NO_ARM, 24, 0xff },
	{ "eq", 1U << EVENT_INTEL, 36, 1 },
	{ "config", ALL, 0, ~0ULL },
};

/* The fields that are the value of an extra MSR. */
static const struct extra_field {
	const char *ef_name;
	enum event_extra ef_extra; /* the first of its kind */
	uint64_t ef_max;
} extra_fields[] = {
	{ "offcore_rsp", EXTRA_OFFCORE0, ~0ULL },
	{ "ldlat", EXTRA_LDLAT, 0xffff },
	{ "frontend", EXTRA_FRONTEND, 0xffffff },
};

/* The fields of an event, as far as they are read. */
struct config {
	uint64_t cnf_select;
	const struct extra_field *cnf_extra; /* or NULL */
	uint64_t cnf_value;
};

static uint64_t
valid_bits(enum event_kind kind)
{
	return kind == EVENT_ARM   ? ARM_CONFIG
	       : kind == EVENT_AMD ? AMD_CONFIG
	                           : INTEL_CONFIG;
}

static int
digit_of(char c)
{
	c = event_lower(c);
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	                              : -1;
}

/* Parse digits of a base.  Returns their end, or NULL if there are none. */
static const char *
parse_digits(const char *s, unsigned base, uint64_t *value)
{
	const char *begin = s;
	int d;

	for (*value = 0; (d = digit_of(*s)) >= 0 && (unsigned)d < base; s++) {
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, (unsigned)d, value))
			return NULL;
	}
	return s > begin ? s : NULL;
}

static const char *
parse_number(const char *s, uint64_t *value)
{
	bool hex = s[0] == '0' && event_lower(s[1]) == 'x';

	return parse_digits(hex ? s + 2 : s, hex ? 16 : 10, value);
}

/* Is this the name of the field at s? */
static bool
is_word(const char *s, const char *word)
{
	while (*word != '\0' && *s == *word) {
		s++;
		word++;
	}
	return *word == '\0' && (*s == '=' || *s == ',' || *s == '/');
}

/* Parse the number after a field's name.  Without a number it is 1. */
static const char *
parse_value(const char *s, uint64_t *v)
{
	*v = 1;
	while (*s != '=' && *s != ',' && *s != '/')
		s++;
	return *s == '=' ? parse_number(s + 1, v) : s;
}

/* Parse the value of an extra MSR.  Returns its end, or NULL. */
static const char *
parse_extra(const char *s, struct config *config)
{
	size_t n = sizeof extra_fields / sizeof extra_fields[0], i = 0;

	while (i < n && !is_word(s, extra_fields[i].ef_name))
		i++;
	if (i == n || config->cnf_extra != NULL)
		return NULL;
	config->cnf_extra = &extra_fields[i];
	s = parse_value(s, &config->cnf_value);
	return config->cnf_value <= extra_fields[i].ef_max ? s : NULL;
}

/* Parse a field.  Returns its end, or NULL. */
static const char *
parse_field(enum event_kind kind, const char *s, struct config *config)
{
	const struct field *fd = fields, *end = fd + sizeof fields / sizeof *fd;
	uint64_t v;

	while (fd < end &&
	       ((fd->fd_kinds >> kind & 1) == 0 || !is_word(s, fd->fd_name)))
		fd++;
	if (fd == end)
		return kind == EVENT_INTEL ? parse_extra(s, config) : NULL;
	s = parse_value(s, &v);
	if (s == NULL || v > fd->fd_max)
		return NULL;
	/*
	 * The upper byte of AMD's event is in bits 35:32 of the register.  That
	 * of Intel's unit masks is in bits 47:40.
	 */
	if (fd->fd_max == AMD_EVENT_MAX ||
	    (kind == EVENT_INTEL && fd->fd_max == INTEL_UMASK_MAX))
		v = (v & 0xff) | v >> 8 << 32;
	config->cnf_select |= v << fd->fd_at;
	return s;
}

/* Parse `field,field/`.  Returns its end, or NULL. */
static const char *
parse_fields(enum event_kind kind, const char *s, struct config *config)
{
	do {
		s = parse_field(kind, s, config);
	} while (s != NULL && *s++ == ',');
	return s != NULL && s[-1] == '/' ? s : NULL;
}

/* The text after the name of a PMU and its slash, or NULL. */
static const char *
after_pmu(const char *s)
{
	const char *begin = s;

	while (
	    (*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_')
		s++;
	return s > begin && *s == '/' ? s + 1 : NULL;
}

/* Parse `:u`, `:k` or `:uk`.  After a slash the colon may be absent. */
static bool
parse_levels(const char *s, struct event_code *ec)
{
	if (*s == '\0')
		return true;
	if (*s == ':')
		s++;
	else if (s[-1] != '/')
		return false;
	if (*s == '\0')
		return false;
	for (; *s == 'u' || *s == 'k'; s++)
		ec->ec_given |= 1U << (*s == 'u' ? MOD_U : MOD_K);
	return *s == '\0';
}

/* Set the extra MSR, if the event uses that register. */
static bool
set_extra(const struct config *config, struct event_code *ec)
{
	uint64_t select = config->cnf_select;

	if (config->cnf_extra == NULL)
		return true;
	ec->ec_extra = config->cnf_extra->ef_extra;
	ec->ec_extra_value = config->cnf_value;
	if (ec->ec_extra == EXTRA_LDLAT)
		return events_has_ldlat(select);
	if (ec->ec_extra == EXTRA_FRONTEND)
		return events_has_frontend(select);
	ec->ec_extra = events_offcore(select);
	return ec->ec_extra != EXTRA_NONE;
}

bool
events_perf(enum event_kind kind, const char *name, struct event_code *ec)
{
	const char *s = after_pmu(name);
	struct config config = { .cnf_select = 0 };

	*ec = (struct event_code){ .ec_pics = UINT32_MAX };
	if (kind > EVENT_ARM)
		return false;
	if (s != NULL)
		s = parse_fields(kind, s, &config);
	else if (*name == 'r')
		s = parse_digits(name + 1, 16, &config.cnf_select);
	if (s == NULL || (config.cnf_select & ~valid_bits(kind)) != 0 ||
	    !set_extra(&config, ec))
		return false;
	ec->ec_select = config.cnf_select;
	return parse_levels(s, ec);
}

/* Parse an event's number, as in cpc(3CPC).  Returns its end, or NULL. */
static const char *
event_number(enum event_kind kind, const char *s, uint64_t *config)
{
	unsigned base = *s != '0' ? 10 : event_lower(s[1]) == 'x' ? 16 : 8;
	uint64_t max = kind == EVENT_ARM   ? ARM_CONFIG
	               : kind == EVENT_AMD ? AMD_EVENT_MAX
	                                   : 0xff;

	s = parse_digits(base == 16 ? s + 2 : s, base, config);
	if (s == NULL || *config > max)
		return NULL;
	if (kind == EVENT_AMD)
		*config = (*config & 0xff) | *config >> 8 << 32;
	return s;
}

bool
events_raw(enum event_kind kind, const char *name, struct event_code *ec)
{
	uint64_t config;
	const char *s;

	if (kind > EVENT_ARM)
		return false;
	if (*name >= '0' && *name <= '9') {
		*ec = (struct event_code){ .ec_pics = UINT32_MAX };
		s = event_number(kind, name, &config);
		if (s == NULL || !parse_levels(s, ec))
			return false;
		ec->ec_select = config;
	} else if (!events_perf(kind, name, ec)) {
		return false;
	}
	bool user = ec->ec_given == 0 || (ec->ec_given >> MOD_U & 1) != 0;
	bool system = ec->ec_given == 0 || (ec->ec_given >> MOD_K & 1) != 0;
	if (kind == EVENT_ARM)
		ec->ec_select |= ARM_EXCL_NOHYP | (user ? 0 : ARM_EXCL_USR) |
		                 (system ? 0 : ARM_EXCL_SYS);
	else
		ec->ec_select |= SEL_EN | SEL_INT | (user ? SEL_USR : 0) |
		                 (system ? SEL_OS : 0);
	return true;
}

char *
events_cut(char **list)
{
	char *name = *list, *s;
	bool raw = false;

	if (name == NULL)
		return NULL;
	for (s = name; *s != '\0' && (raw || *s != ','); s++)
		raw ^= *s == '/';
	*list = *s == ',' ? s + 1 : NULL;
	*s = '\0';
	return name;
}
