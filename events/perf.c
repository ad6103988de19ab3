/*
 * Raw events in perf's forms.  `r1a8` is the config in hex.
 * `cpu/event=0xa8,umask=0x1,cmask=1,inv/` names its fields.
 * Source: man perf-list, "RAW HARDWARE EVENT DESCRIPTOR"; the fields are those
 * of /sys/bus/event_source/devices/<pmu>/format.
 */
#include "events/events.h"
#include "events/select.h"
#include "events/text.h"

/* The bits of event, unit mask, `e`, `i` and `c`. */
#define X86_CONFIG   0xff84ffffULL
#define INTEL_CONFIG (X86_CONFIG | 1ULL << 21)   /* any thread */
#define AMD_CONFIG   (X86_CONFIG | 0xfULL << 32) /* event 11:8 */
#define ARM_CONFIG   0xffffULL

#define AMD_EVENT_MAX 0xfff

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
	{ "umask", NO_ARM, 8, 0xff },
	{ "edge", NO_ARM, 18, 1 },
	{ "any", 1U << EVENT_INTEL, 21, 1 },
	{ "inv", NO_ARM, 23, 1 },
	{ "cmask", NO_ARM, 24, 0xff },
	{ "config", ALL, 0, ~0ULL },
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

/* Parse a field.  Returns its end, or NULL. */
static const char *
parse_field(enum event_kind kind, const char *s, uint64_t *config)
{
	const struct field *fd = fields, *end = fd + sizeof fields / sizeof *fd;
	uint64_t v = 1;

	while (fd < end &&
	       ((fd->fd_kinds >> kind & 1) == 0 || !is_word(s, fd->fd_name)))
		fd++;
	if (fd == end)
		return NULL;
	while (*s != '=' && *s != ',' && *s != '/')
		s++;
	if (*s == '=')
		s = parse_number(s + 1, &v);
	if (s == NULL || v > fd->fd_max)
		return NULL;
	/* AMD: event bits 11:8 are bits 35:32 of the register. */
	if (fd->fd_max == AMD_EVENT_MAX)
		v = (v & 0xff) | v >> 8 << 32;
	*config |= v << fd->fd_at;
	return s;
}

/* Parse `field,field/`.  Returns its end, or NULL. */
static const char *
parse_fields(enum event_kind kind, const char *s, uint64_t *config)
{
	*config = 0;
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

bool
events_perf(enum event_kind kind, const char *name, struct event_code *ec)
{
	const char *s = after_pmu(name);
	uint64_t config = 0;

	*ec = (struct event_code){ .ec_pics = UINT32_MAX };
	if (kind > EVENT_ARM)
		return false;
	if (s != NULL)
		s = parse_fields(kind, s, &config);
	else if (*name == 'r')
		s = parse_digits(name + 1, 16, &config);
	if (s == NULL || (config & ~valid_bits(kind)) != 0)
		return false;
	ec->ec_select = config;
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
	bool user, system;

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
	user = ec->ec_given == 0 || (ec->ec_given >> MOD_U & 1) != 0;
	system = ec->ec_given == 0 || (ec->ec_given >> MOD_K & 1) != 0;
	if (kind == EVENT_ARM)
		ec->ec_select |= ARM_EXCL_NOHYP | (user ? 0 : ARM_EXCL_USR) |
		                 (system ? 0 : ARM_EXCL_SYS);
	else
		ec->ec_select |= SEL_EN | SEL_INT | (user ? SEL_USR : 0) |
		                 (system ? SEL_OS : 0);
	return true;
}
