/*
 * The target of tools in the image: this machine.  A bind shows what no table
 * has: the code of an event, and the PICs on which events fit together.
 */
#include "payloads/common/target.h"

#include <errno.h>
#include <libcpc.h>
#include <stdio.h>
#include <string.h>

#include "events/machine.h"
#include "payloads/common/cpc_error.h"
#include "payloads/common/events/errata.h"
#include "payloads/common/events/perf_names.h"
#include "payloads/common/options.h"
#include "payloads/common/usage.h"

const struct event_db *const *
target_tables(void)
{
	return events_files("/events");
}

const char *
target_cpu(void)
{
	const struct machine *mc = machine_here();

	return mc != NULL && mc->mc_table.es_pmu != NULL
	           ? mc->mc_table.es_pmu->ep_name
	           : NULL;
}

static struct search {
	cpc_t *cpc;
	bool (*matches)(const char *name, const char *pattern);
	const char *pattern;
	int found;
} search;

/* Print the event's code, if a set of this event alone can be bound. */
static void
print_code(const char *event)
{
	cpc_set_t *set = cpc_set_create(search.cpc);
	cpc_reqinfo_t info;

	if (set == NULL)
		return;
	if (cpc_set_add_request(
		search.cpc, set, event, 0, CPC_COUNT_USER, 0, NULL) == 0 &&
	    cpc_bind_curlwp(search.cpc, set, 0) == 0 &&
	    cpc_request_info(search.cpc, set, 0, &info) == 0)
		printf(" 0x%llx", (unsigned long long)info.ri_code);
	cpc_set_destroy(search.cpc, set);
}

static void
print_event(void *, const char *event)
{
	if (!search.matches(event, search.pattern))
		return;
	printf("%-48s [Architected event]", event);
	print_code(event);
	putchar('\n');
	search.found++;
}

/*
 * Print the events of a core type that have no name without it, as TYPE/EVENT/.
 */
static const char *type_name;

static void
print_typed(void *, const char *event)
{
	char name[CPC_MAX_EVENT_LEN + 40];
	cpc_set_t *set = fail_unless_room(cpc_set_create(search.cpc));
	int shared = cpc_set_add_request(
	    search.cpc, set, event, 0, CPC_COUNT_USER, 0, NULL);

	cpc_set_destroy(search.cpc, set);
	if (shared != -1 || !search.matches(event, search.pattern))
		return;
	snprintf(name, sizeof name, "%s/%s/", type_name, event);
	printf("%-48s [Event of a core type]", name);
	print_code(name);
	putchar('\n');
	search.found++;
}

static void
list_types(void)
{
	cpc_t *one;

	for (uint_t n = 0; (type_name = cpc_core_type(search.cpc, n)) != NULL;
	     n++) {
		one = cpc_open_core_type(CPC_VER_CURRENT, type_name);
		if (one == NULL)
			continue;
		cpc_walk_events_all(one, NULL, print_typed);
		cpc_walk_generic_events_all(one, NULL, print_typed);
		cpc_close(one);
	}
}

/* Has the machine core types?  Then no one table is right. */
static bool
has_types(void)
{
	const struct machine *mc = machine_here();

	return mc != NULL && mc->mc_ntypes != 0;
}

int
target_list(
    bool (*matches)(const char *name, const char *pattern), const char *pattern)
{
	if ((target_cpu() != NULL && !has_types()) ||
	    (search.cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		return -1;
	cpc_error_keep(search.cpc);
	search.matches = matches;
	search.pattern = pattern;
	cpc_walk_events_all(search.cpc, NULL, print_event);
	cpc_walk_generic_events_all(search.cpc, NULL, print_event);
	list_types();
	cpc_close(search.cpc);
	return search.found;
}

static void
print_pics(cpc_t *cpc, cpc_set_t *set, int n, char **names)
{
	cpc_reqinfo_t info;
	const char *text;

	for (int i = 0; i < n; i++) {
		if (cpc_request_info(cpc, set, i, &info) == -1)
			fail(1, "%s: %s", names[i], strerror(errno));
		printf("%-48s PIC %u  %#llx\n", names[i], info.ri_picnum,
		    (unsigned long long)info.ri_code);
		for (unsigned next = 0;
		     (text = errata_here(names[i], (int64_t)info.ri_code,
			  (int)info.ri_picnum, &next)) != NULL;)
			fprintf(stderr, "%s: erratum %s\n", names[i], text);
	}
}

/* Make a set of the list's events.  Returns their number. */
static int
add_all(cpc_t *cpc, cpc_set_t *set, char *list, char **names)
{
	struct event e;
	char *name;
	int n = 0;

	while ((name = options_next(&list)) != NULL) {
		if (n == CPC_MAX_REQS)
			fail(1, "more than %d events", n);
		names[n++] = fail_unless_room(strdup(name));
		if (!options_event(&e, name))
			fail(1, "an event without a name");
		if (perf_add_request(
			cpc, set, e.e_name, 0, e.e_flags, 0, NULL) == -1)
			fail(1, "%s: %s", e.e_name, cpc_error_text());
	}
	return n;
}

/* The PICs that a set of these requests may use. */
static unsigned
npic_of(cpc_t *cpc, cpc_set_t *set)
{
	int type = cpc_set_core_type(cpc, set);
	unsigned npic = cpc_npic(cpc);
	cpc_t *one;

	if (type != -1 && (one = cpc_open_core_type(CPC_VER_CURRENT,
			       cpc_core_type(cpc, (uint_t)type))) != NULL) {
		npic = cpc_npic(one);
		cpc_close(one);
	}
	return npic;
}

int
target_fits(char *list)
{
	unsigned npic;
	char *names[CPC_MAX_REQS], why[160];
	cpc_set_t *set;
	cpc_t *cpc;

	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL ||
	    (set = cpc_set_create(cpc)) == NULL)
		fail(77, "<not supported>: %s",
		    cpc_error_of_open(why, sizeof why));
	cpc_error_keep(cpc);
	int n = add_all(cpc, set, list, names);
	npic = npic_of(cpc, set);
	if ((unsigned)n > npic)
		fail(1, "%d events do not fit on %u PICs", n, npic);
	if (cpc_bind_curlwp(cpc, set, 0) == -1)
		fail(1, "%d %s not fit on %u PICs: %s", n,
		    n == 1 ? "event does" : "events do", npic,
		    cpc_error_text());
	print_pics(cpc, set, n, names);
	return 0;
}
