/* Version 1: specifications of events, as text: cpc_strtoevent(3CPC). */
#include "cpc/v1/v1.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpc/cpci.h"

#define X86 (1U << CPC_PMU_INTEL | 1U << CPC_PMU_AMD)
#define ALL (~0U)

enum effect {
	VALUE, /* takes a value, which replaces the bits */
	SET,
	CLEAR,
};

/* The options that may follow the events, in the order of printing. */
static const struct option {
	const char *op_name;
	unsigned op_kinds; /* bit n: enum cpc_pmu_kind n */
	uint32_t op_bits;
	enum effect op_effect;
} options[] = {
	{ "cmask", X86, 0xff000000, VALUE },
	{ "umask", X86, 0x0000ff00, VALUE },
	{ "nouser", ALL, V1_USR, CLEAR },
	{ "sys", ALL, V1_OS, SET },
	{ "noedge", X86, 1U << 18, CLEAR },
	{ "int", X86, 1U << 20, SET },
	{ "inv", X86, 1U << 23, SET },
	{ "pc", X86, 1U << 19, SET },
	/* Not in the usage: for words that no other option makes. */
	{ "edge", X86, 1U << 18, SET },
	{ "anythr", 1U << CPC_PMU_INTEL, 1U << 21, SET },
};
#define NOPTION (sizeof options / sizeof options[0])

/* Parsing */

struct parse {
	const struct machine *vr_mc;
	struct v1_cpu vr_cpu;
	int vr_errors;
	bool vr_has[2]; /* the event was given, right or wrong */
	uint32_t vr_word[2];
	/* The options: bits to clear, then bits to set. */
	uint32_t vr_clear[2], vr_set[2];
	uint32_t vr_seen[NOPTION]; /* bit n: for counter n */
};

#define fail(vr, ...)                                                          \
	do {                                                                   \
		(vr)->vr_errors++;                                             \
		cpci_v1_report("strtoevent", __VA_ARGS__);                     \
	} while (0)

static void
parse_event(struct parse *vr, unsigned n, const char *name)
{
	struct cpc_event ce;

	vr->vr_has[n] = true;
	if (!cpci_event_of(vr->vr_mc, name, &ce) ||
	    !cpci_v1_word(vr->vr_cpu.vc_kind, vr->vr_cpu.vc_pic[n], &ce, V1_USR,
		&vr->vr_word[n]))
		fail(
		    vr, "PerfCtr%u cannot measure '%s' on this cpu\n", n, name);
}

/*
 * Is the token the option, with or without a counter's number?  *counters
 * becomes a mask of counters.
 */
static bool
is_option(const struct option *op, const char *token, unsigned *counters)
{
	size_t len = strlen(op->op_name);

	if (strncmp(token, op->op_name, len) != 0)
		return false;
	token += len;
	*counters = 3;
	if (*token == '0' || *token == '1')
		*counters = 1U << (*token++ - '0');
	return *token == '\0';
}

static const struct option *
find_option(unsigned kind, const char *token, unsigned *counters)
{
	for (const struct option *op = options; op < options + NOPTION; op++) {
		if ((op->op_kinds >> kind & 1) != 0 &&
		    is_option(op, token, counters))
			return op;
	}
	return NULL;
}

static bool
parse_mask(const char *value, unsigned long *mask)
{
	int err = errno;
	char *end;

	/* A value beyond the type's is ULONG_MAX, with ERANGE. */
	*mask = strtoul(value, &end, 0);
	errno = err;
	return *value >= '0' && *value <= '9' && *end == '\0' && *mask <= 0xff;
}

static void
parse_option(struct parse *vr, const struct option *op, const char *token,
    unsigned counters, const char *value)
{
	uint32_t *seen = &vr->vr_seen[op - options];
	unsigned long mask = 0;

	if ((*seen & counters) != 0) {
		fail(vr, "repeated '%s' token\n", token);
		return;
	}
	*seen |= counters;
	if (op->op_effect != VALUE && value != NULL) {
		fail(vr, "bad arg to '%s'\n", token);
		return;
	}
	if (op->op_effect == VALUE && (value == NULL || *value == '\0')) {
		fail(vr, "missing '%s' value\n", token);
		return;
	}
	if (op->op_effect == VALUE && !parse_mask(value, &mask)) {
		fail(vr, "bad '%s' value\n", token);
		return;
	}
	for (unsigned n = 0; n < 2; n++) {
		if ((counters >> n & 1) == 0)
			continue;
		if (op->op_effect != SET)
			vr->vr_clear[n] |= op->op_bits;
		if (op->op_effect != CLEAR)
			vr->vr_set[n] |=
			    op->op_effect == SET
				? op->op_bits
				: (op->op_bits & -op->op_bits) * (uint32_t)mask;
	}
}

static void
parse_labelled(
    struct parse *vr, const char *token, unsigned n, const char *value)
{
	if (vr->vr_has[n])
		fail(vr, "repeated '%s' token\n", token);
	else if (value == NULL || *value == '\0')
		fail(vr, "missing '%s' value\n", token);
	else
		parse_event(vr, n, value);
}

/* An event without a label takes the first counter that has none. */
static void
parse_bare(struct parse *vr, const char *token)
{
	unsigned n = 0;

	while (n < 2 && vr->vr_has[n])
		n++;
	if (n == 2 || *token == '\0')
		fail(vr, "bad token '%s'\n", token);
	else
		parse_event(vr, n, token);
}

/* The token is changed: its `=` becomes its end. */
static void
parse_token(struct parse *vr, char *token)
{
	char *value = token + strcspn(token, "=/");
	const struct option *op;
	unsigned counters = 0;

	/* The `=` of an option; one after a slash is a raw event's. */
	if (*value == '=')
		*value++ = '\0';
	else
		value = NULL;
	op = find_option(vr->vr_cpu.vc_kind, token, &counters);
	if (strcmp(token, "pic0") == 0)
		parse_labelled(vr, token, 0, value);
	else if (strcmp(token, "pic1") == 0)
		parse_labelled(vr, token, 1, value);
	else if (op != NULL)
		parse_option(vr, op, token, counters, value);
	else if (value != NULL)
		fail(vr, "bad token '%s'\n", token);
	else
		parse_bare(vr, token);
}

int
cpci_v1_parse(const struct machine *mc, struct v1_cpu cpu, const char *spec,
    cpc_event_t *event)
{
	struct parse vr = { .vr_mc = mc, .vr_cpu = cpu };
	char *copy = strdup(spec), *rest = copy, *token;

	*event = (cpc_event_t){ .ce_cpuver = cpu.vc_ver };
	if (copy == NULL) {
		fail(&vr, "no memory for '%s'\n", spec);
		return vr.vr_errors;
	}
	while ((token = events_cut(&rest)) != NULL)
		parse_token(&vr, token);
	free(copy);
	if (!vr.vr_has[0] || !vr.vr_has[1])
		fail(&vr, "two events must be specified\n");
	for (unsigned n = 0; n < 2 && vr.vr_errors == 0; n++)
		event->ce_pes[n] =
		    (vr.vr_word[n] & ~vr.vr_clear[n]) | vr.vr_set[n];
	return vr.vr_errors;
}

int
cpc_strtoevent(int cpuver, const char *spec, cpc_event_t *event)
{
	struct v1_cpu cpu = cpci_v1_cpu();

	if (event != NULL)
		*event = (cpc_event_t){ .ce_cpuver = cpuver };
	if (spec == NULL || event == NULL || cpu.vc_ver == -1 ||
	    cpuver != cpu.vc_ver) {
		cpci_v1_report(
		    "strtoevent", "cpuver %d is not this machine's\n", cpuver);
		return 1;
	}
	return cpci_v1_parse(machine_here(), cpu, spec, event);
}

/* Printing */

bool
cpci_v1_next(
    const struct machine *mc, struct v1_cpu cpu, int n, struct v1_walk *vw)
{
	unsigned pic = cpu.vc_pic[n];
	struct cpc_event ce;

	for (;;) {
		if (machine_next(mc, 1ULL << pic, vw->vw_generic, &vw->vw_list,
			vw->vw_name, CPC_MAX_EVENT_LEN)) {
			if (machine_name(mc, vw->vw_name, &ce) &&
			    cpci_v1_word(
				cpu.vc_kind, pic, &ce, V1_USR, &vw->vw_word))
				return true;
		} else if (!vw->vw_generic) {
			*vw = (struct v1_walk){ .vw_generic = true };
		} else {
			return false;
		}
	}
}

struct text {
	char *tx_at;
	size_t tx_room; /* one for the NUL is kept back */
};

#define TEXT_BYTES (2 * CPC_MAX_EVENT_LEN + 512)

static void __attribute__((format(printf, 2, 3)))
add_text(struct text *tx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(tx->tx_at, tx->tx_room, fmt, ap);
	va_end(ap);
	tx->tx_at += n;
	tx->tx_room -= (size_t)n;
}

/*
 * Add counter n's event: a name that has its whole code, or else a number.
 * Returns the bits of the word that the text does not say yet.
 */
static uint32_t
add_event(struct text *tx, const struct machine *mc, struct v1_cpu cpu, int n,
    uint32_t word)
{
	uint64_t code = cpci_v1_code(cpu.vc_kind, word);
	uint32_t number = word & cpci_v1_number_bits(cpu.vc_kind);
	struct v1_walk vw = { .vw_generic = false };

	while (cpci_v1_next(mc, cpu, n, &vw)) {
		if (cpci_v1_code(cpu.vc_kind, vw.vw_word) == code) {
			add_text(tx, "pic%d=%s,", n, vw.vw_name);
			return word & ~(uint32_t)code;
		}
	}
	add_text(tx, "pic%d=%#x,", n, number);
	return word & ~number;
}

/* Does a word that parsing begins with V1_USR need the option? */
static bool
needs_option(const struct option *op, uint32_t rest)
{
	return ((rest & op->op_bits) != 0) == (op->op_effect != CLEAR);
}

static void
add_option(
    struct text *tx, const struct option *op, const char *number, uint32_t rest)
{
	uint32_t value = (rest & op->op_bits) / (op->op_bits & -op->op_bits);

	if (op->op_effect == VALUE)
		add_text(tx, "%s%s=%#x,", op->op_name, number, value);
	else
		add_text(tx, "%s%s,", op->op_name, number);
}

char *
cpci_v1_print(
    const struct machine *mc, struct v1_cpu cpu, const cpc_event_t *event)
{
	static const char *const numbers[] = { "0", "1" };
	char *text = malloc(TEXT_BYTES);
	struct text tx = { text, TEXT_BYTES };
	uint32_t rest[2];

	if (text == NULL)
		return NULL;
	for (int n = 0; n < 2; n++)
		rest[n] = add_event(&tx, mc, cpu, n, event->ce_pes[n]);
	for (const struct option *op = options; op < options + NOPTION; op++) {
		bool same = ((rest[0] ^ rest[1]) & op->op_bits) == 0;

		/* An option that clears, and a name that sets, never meet. */
		if ((op->op_kinds >> cpu.vc_kind & 1) == 0 ||
		    strcmp(op->op_name, "noedge") == 0)
			continue;
		if (same && needs_option(op, rest[0]))
			add_option(&tx, op, "", rest[0]);
		for (int n = 0; n < 2 && !same; n++) {
			if (needs_option(op, rest[n]))
				add_option(&tx, op, numbers[n], rest[n]);
		}
	}
	tx.tx_at[-1] = '\0'; /* the last comma */
	return text;
}

char *
cpc_eventtostr(cpc_event_t *event)
{
	struct v1_cpu cpu = cpci_v1_cpu();

	if (event == NULL || cpu.vc_ver == -1 ||
	    event->ce_cpuver != cpu.vc_ver) {
		errno = EINVAL;
		return NULL;
	}
	return cpci_v1_print(machine_here(), cpu, event);
}
