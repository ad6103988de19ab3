/*
 * list [--cpu NAME] [pattern]: prints the events of a CPU, with what they
 * count.  list --cpus: prints the CPUs that have a table.
 * With a pattern, prints the names that contain it, in upper or lower
 * case.  The names of perf come first and PAPI's presets last, each with its
 * event.  If no table exists for this machine's CPU, prints the names that its
 * backend knows.
 */
#define _GNU_SOURCE /* FNM_CASEFOLD, strcasestr() */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "payloads/common/events/event_lookup.h"
#include "payloads/common/events/event_table.h"
#include "payloads/common/events/perf_names.h"
#include "payloads/common/target.h"
#include "payloads/common/usage.h"

#define TEXT 2048

/*
 * Does the name contain the pattern?  A dot means a colon; `*` and `?` match
 * any text and any character.  A search for letters is faster in musl than
 * fnmatch() by a factor of three.
 */
static bool
matches_pattern(const char *name, const char *pattern)
{
	char glob[TEXT];

	if ((size_t)snprintf(glob, sizeof glob, "*%s*", pattern) >= sizeof glob)
		return false;
	for (char *s = glob; *s != '\0'; s++) {
		if (*s == '.')
			*s = ':';
	}
	if (strpbrk(pattern, "*?[\\") != NULL)
		return fnmatch(glob, name, FNM_CASEFOLD) == 0;
	glob[strlen(glob) - 1] = '\0';
	return strcasestr(name, glob + 1) != NULL;
}

/*
 * Print the events, each with its description.  If some have none, a line on
 * standard error says why.
 */
static unsigned
list_events(const struct events *es, const char *pattern)
{
	struct event_walk ew = { 0 };
	char name[TEXT], text[TEXT];
	unsigned found = 0, bare = 0;

	while (events_next(es, &ew, ~0ULL, name, sizeof name)) {
		if (!matches_pattern(name, pattern))
			continue;
		/* The walk has passed the unit mask it printed. */
		if (events_describe(es, events_nth_row(es, ew.ew_row),
			(int)ew.ew_umask - 2, text, sizeof text) == 0) {
			bare++;
			puts(name);
		} else {
			printf("%-48s %s\n", name, text);
		}
		found++;
	}
	if (bare > 0 && !events_described(es))
		fprintf(stderr,
		    "list: no description of %s's events: libpfm4 was absent "
		    "when the tables were built: run 'scripts/setup "
		    "--optional' and make\n",
		    es->es_pmu->ep_name);
	else if (bare > 0)
		fprintf(stderr,
		    "list: no description of %u of %u events: libpfm4 had "
		    "none of them when the tables were built\n",
		    bare, found);
	return found;
}

static unsigned
list_presets(const struct events *es, const char *pattern)
{
	unsigned n = 0, found = 0;
	char name[TEXT], text[TEXT];
	struct event_spec sp;

	while (events_next_preset(es, &n, name, sizeof name)) {
		if (!matches_pattern(name, pattern))
			continue;
		events_parse(es, name, EVENT_EITHER_CASE, &sp);
		events_short(es, &sp, text, sizeof text);
		printf("%-48s %s\n", name, text);
		found++;
	}
	return found;
}

/* Print the names of perf for which the CPU has an event. */
static unsigned
list_perf_names(const struct events *es, const char *pattern)
{
	struct event_spec sp;
	struct event_code ec;
	char text[TEXT];
	unsigned found = 0;
	const char *name;

	for (unsigned n = 0; (name = perf_name_nth(n)) != NULL; n++) {
		if (!matches_pattern(name, pattern) ||
		    event_lookup(es, name, &sp, &ec) != EVENT_OK)
			continue;
		events_short(es, &sp, text, sizeof text);
		printf("%-48s [Hardware event] %s\n", name, text);
		found++;
	}
	return found;
}

static int
report_absent(unsigned found, const char *cpu, const char *pattern)
{
	if (found == 0)
		fprintf(stderr, "list: %s has no event with \"%s\" in it\n",
		    cpu, pattern);
	return found == 0;
}

/* CPUs that machines have, but no source of the tables. */
static const char *const no_source =
    "Arm: Apple's and Qualcomm's cores.  x86: Hygon's and Zhaoxin's.  These "
    "CPUs have raw codes and architected events";

/* Print the CPUs that have a table, each with its names and their sources. */
static int
list_cpus(void)
{
	unsigned names, n = 0;
	struct event_walk ew;
	char name[TEXT];
	struct events es;

	for (; (es = events_nth(target_tables(), n)).es_pmu != NULL; n++) {
		event_table_check(&es);
		ew = (struct event_walk){ 0 };
		for (names = 0;
		     events_next(&es, &ew, ~0ULL, name, sizeof name);)
			names++;
		printf("%-24s %-36s %5u names of %s\n", es.es_pmu->ep_name,
		    es.es_pmu->ep_desc, names, es.es_pmu->ep_source);
	}
	if (n == 0) {
		fputs("list: no table of any CPU: this image was made with "
		      "EVENTS=\n",
		    stderr);
		return 1;
	}
	printf("No table, because no source has one: %s.\n", no_source);
	return 0;
}

int
main(int argc, char **argv)
{
	bool cpus = false;
	const char *cpu = event_table_option(
	    argc, argv, "[--cpu NAME] [pattern] | --cpus", &cpus);
	const char *pattern = optind < argc ? argv[optind] : "";
	int own;

	if (cpus && argc > 2)
		usage_mistake("--cpus: give it alone");
	if (cpus)
		return list_cpus();
	if (argc - optind > 1)
		usage_mistake("%s: give only one pattern", argv[optind + 1]);
	if (cpu == NULL && (own = target_list(matches_pattern, pattern)) >= 0)
		return report_absent((unsigned)own, "this CPU", pattern);
	struct events es = event_table_choose(cpu);
	return report_absent(list_perf_names(&es, pattern) +
				 list_events(&es, pattern) +
				 list_presets(&es, pattern),
	    es.es_pmu->ep_name, pattern);
}
