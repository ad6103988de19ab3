/*
 * presets: find the events of presets by our own encoder.  It is linked with a
 * table that has no presets yet, TABLE.  The first line of output has the
 * presets' names, in their order.  Each line of input is a question: the
 * number of a PMU in the table, a name of an event or `-`, and codes.  The
 * answer is the event as an alias, in hexadecimal, or `-`.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/names/preset.h"

#define X86_CONTROL 0x530000ULL /* EN, INT, OS, USR: not of the event */
#define ARM_EVENT   0xffffULL   /* evtCount of PMEVTYPER<n>_EL0 */

extern const struct event_db TABLE;

static bool
encode_name(const struct events *es, const char *name, struct event_spec *sp,
    struct event_code *ec)
{
	struct event_spec whole;

	if (events_parse(es, name, EVENT_ANY_CASE, sp) != EVENT_OK)
		return false;
	whole = *sp; /* the default unit masks are for the encoder to add */
	return events_encode(es, &whole, ec) == EVENT_OK;
}

/* Prefer a fixed PIC to all general ones, then a name without a unit mask. */
static int
name_worth(const struct event_code *ec, const char *name)
{
	int general = __builtin_popcountll(ec->ec_pics & UINT32_MAX);
	int fixed = __builtin_popcountll(ec->ec_pics >> 32);

	return 128 * fixed + 2 * general + (strchr(name, ':') == NULL);
}

/* The first name with that code that most PICs count. */
static bool
find_code(const struct events *es, uint64_t code, struct event_spec *found)
{
	uint64_t mask =
	    es->es_pmu->ep_kind == EVENT_ARM ? ARM_EVENT : ~X86_CONTROL;
	struct event_walk ew = { 0 };
	struct event_spec sp;
	struct event_code ec;
	char name[256];
	int best = 0;

	while (events_next(es, &ew, ~0ULL, name, sizeof name)) {
		if (!encode_name(es, name, &sp, &ec) ||
		    ec.ec_extra != EXTRA_NONE ||
		    (ec.ec_select & mask) != (code & mask) ||
		    name_worth(&ec, name) <= best)
			continue;
		best = name_worth(&ec, name);
		*found = sp;
	}
	return best > 0;
}

/* Print an event as an alias.  alias_add_event() (events/names/) reads it. */
static void
print_event(const struct events *es, const struct event_spec *sp)
{
	const struct event_row *rows = es->es_db->ed_at[SECTION_ROWS];
	unsigned row = (unsigned)(sp->spc_row - &rows[es->es_pmu->ep_first]);

	printf("%02x%02x%02x", row & 0xff, row >> 8, sp->spc_numask);
	for (unsigned i = 0; i < sp->spc_numask; i++) {
		if (sp->spc_umask[i] > UINT8_MAX)
			errx(1, "a preset's unit mask is too far in its list");
		printf("%02x", sp->spc_umask[i]);
	}
	printf("%02x", __builtin_popcount(sp->spc_given));
	for (unsigned m = 0; m < MOD_N; m++) {
		if ((sp->spc_given >> m & 1) == 0)
			continue;
		if (sp->spc_value[m] > UINT8_MAX)
			errx(1, "a preset's modifier is too large");
		printf("%02x%02x", m, sp->spc_value[m]);
	}
	printf("\n");
}

int
main(void)
{
	struct events es = { .es_db = &TABLE };
	struct event_spec sp;
	struct event_code ec;
	char line[512], *word;
	bool found;

	for (unsigned p = 0; p < EVENT_PRESETS; p++)
		printf("%s ", event_preset_names[p]);
	printf("\n");
	while (fgets(line, sizeof line, stdin) != NULL) {
		es.es_pmu = (const struct event_pmu *)TABLE.ed_at[SECTION_PMUS];
		es.es_pmu += strtoul(strtok(line, " \n"), NULL, 10);
		found = encode_name(&es, strtok(NULL, " \n"), &sp, &ec);
		while (!found && (word = strtok(NULL, " \n")) != NULL)
			found = find_code(&es, strtoull(word, NULL, 0), &sp);
		if (found)
			print_event(&es, &sp);
		else
			printf("-\n");
	}
	return 0;
}
