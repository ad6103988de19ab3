/*
 * fits [--cpu NAME] EVENT,EVENT...: can a CPU count them all at once, and on
 * which PICs?  Status 1 if it cannot, with the reason.
 *
 * For another CPU the tables say which PICs count which event.  It is taken to
 * have all PICs that its model can have, the general ones first, and the extra
 * MSRs that its events name.
 */
#include "payloads/tools/fits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kern/cpc/assign.h"
#include "payloads/common/event_lookup.h"
#include "payloads/common/event_table.h"
#include "payloads/common/options.h"
#include "payloads/common/usage.h"

#define MAXPIC 32

struct wanted {
	const char *wn_name;
	struct event_code wn_code;
};

/* Fixed PICs count what the architecture says, without a modifier. */
#define SELECT_PLAIN 0x53ffffULL /* event, unit mask, OS, USR, INT, EN */

/* The general PICs that count it. */
static uint64_t
general_pics(const struct event_pmu *ep, const struct event_code *ec)
{
	uint64_t pics = ec->ec_pics & ((1ULL << ep->ep_npic) - 1);

	if (ep->ep_kind == EVENT_AMD && strstr(ep->ep_name, "fam15h") != NULL)
		pics &= events_amd_15h_pics((unsigned)(ec->ec_select & 0xff) |
					    (ec->ec_select >> 24 & 0xf00));
	return pics;
}

/* The PICs that count it, numbered as libcpc numbers them. */
static uint64_t
pics_of(const struct event_pmu *ep, const struct event_code *ec)
{
	uint64_t general = general_pics(ep, ec);
	uint64_t fixed = ec->ec_pics >> 32 & ((1ULL << ep->ep_nfixed) - 1);

	if (general != 0 && (ec->ec_select & ~SELECT_PLAIN) != 0)
		fixed = 0;
	return general | fixed << ep->ep_npic;
}

static bool
look_up(const struct events *es, struct wanted *w)
{
	struct event_spec sp;
	enum event_error err;

	if (*w->wn_name == '\0') {
		fputs("fits: an event without a name\n", stderr);
		return false;
	}
	err = lookup(es, w->wn_name, &sp, &w->wn_code);
	if (err == EVENT_UNKNOWN &&
	    events_raw(es->es_pmu->ep_kind, w->wn_name, &w->wn_code))
		return true;
	if (err != EVENT_OK)
		lookup_refuse(es, w->wn_name, err);
	return err == EVENT_OK;
}

/* Do two events want different values in one register? */
static bool
conflict(const struct wanted *w, int n)
{
	for (int i = 1; i < n; i++) {
		const struct event_code *a = &w[i].wn_code;

		for (int j = 0; j < i; j++) {
			const struct event_code *b = &w[j].wn_code;

			if (a->ec_extra == EXTRA_NONE ||
			    a->ec_extra != b->ec_extra ||
			    a->ec_extra_value == b->ec_extra_value)
				continue;
			fprintf(stderr,
			    "fits: %s is to be %#" PRIx64 " for %s, and "
			    "%#" PRIx64 " for %s\n",
			    names_extra_msr[a->ec_extra], a->ec_extra_value,
			    w[i].wn_name, b->ec_extra_value, w[j].wn_name);
			return true;
		}
	}
	return false;
}

/* The events that have too few PICs between them. */
static void
print_short(const struct events *es, const struct wanted *w, int n,
    const struct kcpc_short *ks)
{
	const char *between = " ";

	fprintf(stderr,
	    "fits: %d %s not fit on the %d general and %d fixed PICs of %s:", n,
	    n == 1 ? "event does" : "events do", es->es_pmu->ep_npic,
	    es->es_pmu->ep_nfixed, es->es_pmu->ep_name);
	for (int i = 0; i < n; i++) {
		if ((ks->ksh_reqs >> i & 1) != 0) {
			fprintf(stderr, "%s%s", between, w[i].wn_name);
			between = ", ";
		}
	}
	between = " can be on ";
	for (int pic = 0; pic < MAXPIC; pic++) {
		if ((ks->ksh_pics >> pic & 1) != 0) {
			fprintf(stderr, "%sPIC %d", between, pic);
			between = ", ";
		}
	}
	fputs(ks->ksh_pics != 0 ? " alone\n" : " can be on none\n", stderr);
}

static int
by_table(const struct events *es, char *list)
{
	struct wanted w[MAXPIC];
	struct kcpc_short ks;
	uint64_t can[MAXPIC];
	int pic[MAXPIC], n = 0;
	const char *name;

	while ((name = options_next(&list)) != NULL) {
		if (n == es->es_pmu->ep_npic + es->es_pmu->ep_nfixed) {
			fprintf(stderr, "fits: %s has %d PICs, and no more\n",
			    es->es_pmu->ep_name, n);
			return 1;
		}
		w[n].wn_name = name;
		if (!look_up(es, &w[n]))
			return 1;
		can[n] = pics_of(es->es_pmu, &w[n].wn_code);
		n++;
	}
	if (conflict(w, n))
		return 1;
	if (!kcpc_assign((unsigned)n, can, pic, &ks)) {
		print_short(es, w, n, &ks);
		return 1;
	}
	for (int i = 0; i < n; i++)
		printf("%-48s PIC %d  %#" PRIx64 "\n", w[i].wn_name, pic[i],
		    w[i].wn_code.ec_select);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *cpu =
	    names_option(argc, argv, "[--cpu NAME] EVENT,EVENT...");
	struct events es;

	if (optind == argc)
		usage_mistake("no events to fit");
	if (argc - optind > 1)
		usage_mistake(
		    "%s: events in one list, with commas", argv[optind + 1]);
	if (cpu == NULL)
		return fits_here(argv[optind]);
	es = names_choose(cpu);
	if (es.es_pmu->ep_kind == EVENT_NETBURST)
		fail(2,
		    "%s has ESCRs before its PICs, which no mask of these "
		    "tells: see docs/events.md",
		    es.es_pmu->ep_name);
	return by_table(&es, argv[optind]);
}
