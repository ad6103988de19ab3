/*
 * Events as perf writes raw ones: `r1a8`, the config in hex, and
 * `cpu/event=0xa8,umask=0x1,cmask=1,inv/`, by its fields.
 * man perf-list, "RAW HARDWARE EVENT DESCRIPTOR"; the fields are those of
 * /sys/bus/event_source/devices/<pmu>/format.
 */
#include "events/events.h"
#include "events/select.h"
#include "events/text.h"

/* Counter mask, inverted, edges, unit mask, event. */
#define X86_CONFIG   0xff84ffffULL
#define INTEL_CONFIG (X86_CONFIG | 1ULL << 21)   /* any thread */
#define AMD_CONFIG   (X86_CONFIG | 0xfULL << 32) /* event 11:8 */
#define ARM_CONFIG   0xffffULL

#define AMD_EVENT_MAX 0xfff

#define NO_ARM (1U << EVENT_INTEL | 1U << EVENT_AMD)
#define ALL    (NO_ARM | 1U << EVENT_ARM)

/* A field: its lowest bit, and what it may be. */
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

/* Digits of the base, at least one; where they end, or NULL. */
static const char *
digits(const char *s, unsigned base, uint64_t *value)
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
number(const char *s, uint64_t *value)
{
	bool hex = s[0] == '0' && event_lower(s[1]) == 'x';

	return digits(hex ? s + 2 : s, hex ? 16 : 10, value);
}

/* Is the word at s, up to what ends it, this? */
static bool
is_word(const char *s, const char *word)
{
	while (*word != '\0' && *s == *word) {
		s++;
		word++;
	}
	return *word == '\0' && (*s == '=' || *s == ',' || *s == '/');
}

/* One field; where it ends, or NULL. */
static const char *
field(enum event_kind kind, const char *s, uint64_t *config)
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
		s = number(s + 1, &v);
	if (s == NULL || v > fd->fd_max)
		return NULL;
	/* An event's upper four bits lie apart on AMD. */
	if (fd->fd_max == AMD_EVENT_MAX)
		v = (v & 0xff) | v >> 8 << 32;
	*config |= v << fd->fd_at;
	return s;
}

/* `cpu/field,field/`: behind the first slash. */
static const char *
all_fields(enum event_kind kind, const char *s, uint64_t *config)
{
	*config = 0;
	do {
		s = field(kind, s, config);
	} while (s != NULL && *s++ == ',');
	return s != NULL && s[-1] == '/' ? s : NULL;
}

/* The PMU's name, of letters, digits and `_`; what is behind its slash. */
static const char *
behind_pmu(const char *s)
{
	const char *begin = s;

	while (
	    (*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_')
		s++;
	return s > begin && *s == '/' ? s + 1 : NULL;
}

/* `u`, `k`, both: behind a colon, which a slash may stand for. */
static bool
levels(const char *s, struct event_code *ec)
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
	const char *s = behind_pmu(name);
	uint64_t config = 0;

	*ec = (struct event_code){ .ec_pics = UINT32_MAX };
	if (kind > EVENT_ARM)
		return false;
	if (s != NULL)
		s = all_fields(kind, s, &config);
	else if (*name == 'r')
		s = digits(name + 1, 16, &config);
	if (s == NULL || (config & ~valid_bits(kind)) != 0)
		return false;
	ec->ec_select = config;
	return levels(s, ec);
}

/* A number, as cpc(3CPC) has them: the event alone; where it ends, or NULL. */
static const char *
event_number(enum event_kind kind, const char *s, uint64_t *config)
{
	unsigned base = *s != '0' ? 10 : event_lower(s[1]) == 'x' ? 16 : 8;
	uint64_t max = kind == EVENT_ARM   ? ARM_CONFIG
	               : kind == EVENT_AMD ? AMD_EVENT_MAX
	                                   : 0xff;

	s = digits(base == 16 ? s + 2 : s, base, config);
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
		if (s == NULL || !levels(s, ec))
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
