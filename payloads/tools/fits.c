/*
 * fits [--cpu NAME] EVENT,EVENT...: prints on which PICs a CPU counts all
 * events at once.  If it cannot, prints the reason and ends with status 1.
 *
 * For another CPU the tables say which PICs count which event.  That CPU is
 * assumed to have all PICs that its model can have, the general ones first, and
 * the extra MSRs that its events name.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kern/cpc/assign.h"
#include "payloads/common/events/errata.h"
#include "payloads/common/events/event_lookup.h"
#include "payloads/common/events/event_table.h"
#include "payloads/common/options.h"
#include "payloads/common/target.h"
#include "payloads/common/usage.h"

struct wanted {
	const char *wn_name;
	struct event_code wn_code;
};

/* A fixed PIC counts its architectural event, and takes no other modifier. */
#define SELECT_PLAIN 0x53ffffULL /* event, unit mask, OS, USR, INT, EN */

/* The general PICs that count the event. */
static uint64_t
general_pics(const struct event_pmu *ep, const struct event_code *ec)
{
	uint64_t pics = ec->ec_pics & ((1ULL << ep->ep_npic) - 1);

	if (ep->ep_kind == EVENT_AMD && strstr(ep->ep_name, "fam15h") != NULL)
		pics &= events_amd_15h_pics((unsigned)(ec->ec_select & 0xff) |
					    (ec->ec_select >> 24 & 0xf00));
	return pics;
}

/* The PICs that count the event, numbered as in libcpc. */
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
find_event(const struct events *es, struct wanted *w)
{
	struct event_spec sp;

	if (*w->wn_name == '\0') {
		fputs("fits: an event without a name\n", stderr);
		return false;
	}
	enum event_error err = event_lookup(es, w->wn_name, &sp, &w->wn_code);
	if (err == EVENT_UNKNOWN &&
	    events_raw(es->es_pmu->ep_kind, w->wn_name, &w->wn_code)) {
		events_raw_pics(es, &w->wn_code);
		/* libcpc puts a number on general PICs. */
		if (isdigit((unsigned char)*w->wn_name))
			w->wn_code.ec_pics &= UINT32_MAX;
		return true;
	}
	if (err != EVENT_OK)
		event_lookup_refuse(es, w->wn_name, err);
	return err == EVENT_OK;
}

/* Do two events want different values in one register? */
static bool
msr_conflict(const struct wanted *w, int n)
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
			    "fits: %s would have to be %#" PRIx64
			    " for %s and %#" PRIx64 " for %s\n",
			    event_table_extra_msr[a->ec_extra],
			    a->ec_extra_value, w[i].wn_name, b->ec_extra_value,
			    w[j].wn_name);
			return true;
		}
	}
	return false;
}

/* Print the events that have too few PICs for all of them. */
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
	for (int pic = 0; pic < EVENT_MAXPIC; pic++) {
		if ((ks->ksh_pics >> pic & 1) != 0) {
			fprintf(stderr, "%sPIC %d", between, pic);
			between = ", ";
		}
	}
	fputs(ks->ksh_pics != 0 ? " alone\n" : " can be on no PIC\n", stderr);
}

/* A CPU that has this table; erc_vendor is NULL if no erratum can be its. */
static struct errata_cpu
cpu_of_table(const struct events *es)
{
	static const struct {
		enum event_kind kind;
		struct errata_cpu cpu;
	} families[] = {
		{ EVENT_INTEL, { "GenuineIntel", 6, 0 } },
		{ EVENT_AMD, { "AuthenticAMD", 0x17, 0 } },
		{ EVENT_AMD, { "AuthenticAMD", 0x19, 0 } },
	};

	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
		struct errata_cpu cpu = families[i].cpu;

		for (; cpu.erc_model < 256; cpu.erc_model++) {
			if (families[i].kind == es->es_pmu->ep_kind &&
			    events_cpu(target_tables(), families[i].kind,
				cpu.erc_family, cpu.erc_model, 0)
				    .es_pmu == es->es_pmu)
				return cpu;
		}
	}
	return (struct errata_cpu){ 0 };
}

static void
print_errata(const struct errata_cpu *cpu, const struct wanted *w, int pic)
{
	unsigned next = 0;
	const char *text;

	while (
	    cpu->erc_vendor != NULL &&
	    (text = errata_next(cpu, w->wn_code.ec_select, pic, &next)) != NULL)
		fprintf(stderr, "%s: erratum %s\n", w->wn_name, text);
}

static int
fit_by_table(const struct events *es, char *list)
{
	const struct errata_cpu cpu = cpu_of_table(es);
	struct wanted w[EVENT_MAXPIC];
	struct kcpc_short ks;
	uint64_t can[EVENT_MAXPIC];
	int pic[EVENT_MAXPIC], n = 0;
	const char *name;

	while ((name = options_next(&list)) != NULL) {
		if (n == es->es_pmu->ep_npic + es->es_pmu->ep_nfixed) {
			fprintf(stderr, "fits: %s has only %d PICs\n",
			    es->es_pmu->ep_name, n);
			return 1;
		}
		w[n].wn_name = name;
		if (!find_event(es, &w[n]))
			return 1;
		can[n] = pics_of(es->es_pmu, &w[n].wn_code);
		n++;
	}
	if (msr_conflict(w, n))
		return 1;
	if (!kcpc_assign((unsigned)n, can, pic, &ks)) {
		print_short(es, w, n, &ks);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		printf("%-48s PIC %d", w[i].wn_name, pic[i]);
		if (pic[i] >= es->es_pmu->ep_npic)
			printf(" (fixed %d)", pic[i] - es->es_pmu->ep_npic);
		printf("  %#" PRIx64 "\n", w[i].wn_code.ec_select);
		print_errata(&cpu, &w[i], pic[i]);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const char *cpu =
	    event_table_option(argc, argv, "[--cpu NAME] EVENT,EVENT...", NULL);
	char *brace;

	if (optind == argc)
		usage_mistake("no events to fit");
	if (argc - optind > 1)
		usage_mistake("%s: put all events into one list, with commas",
		    argv[optind + 1]);
	/* All events are counted together, with braces or without. */
	while ((brace = strpbrk(argv[optind], "{}")) != NULL)
		memmove(brace, brace + 1, strlen(brace));
	if (cpu == NULL)
		return target_fits(argv[optind]);
	struct events es = event_table_choose(cpu);
	if (es.es_pmu->ep_kind == EVENT_NETBURST)
		fail(2,
		    "%s: cannot tell: its events also compete for ESCRs: see "
		    "docs/events.md",
		    es.es_pmu->ep_name);
	return fit_by_table(&es, argv[optind]);
}
