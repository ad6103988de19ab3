/* Looks up an event by any name that programs accept: of a table, or perf's. */
#include "payloads/common/events/event_lookup.h"

#include <stdio.h>
#include <string.h>

#include "payloads/common/events/event_table.h"
#include "payloads/common/events/perf_names.h"
#include "payloads/common/usage.h"

static enum event_error
find_in_table(const struct events *es, const char *name, struct event_spec *sp,
    struct event_code *ec)
{
	enum event_error err = events_parse(es, name, EVENT_ANY_CASE, sp);

	return err == EVENT_OK ? events_encode(es, sp, ec) : err;
}

/*
 * Look up the table's name of a perf name.  On Intel it must be the
 * architectural event: under one of these names Sandy Bridge's table has only
 * the precise event of branches.  PAPI's presets are skipped: they serve
 * backends without a table, and NetBurst's cycles are not perf's.
 */
static enum event_error
find_native(const struct events *es, const char *name, const char *native,
    struct event_spec *sp, struct event_code *ec)
{
	enum event_error err = strncmp(native, "PAPI_", 5) == 0
	                           ? EVENT_UNKNOWN
	                           : find_in_table(es, native, sp, ec);

	if (err == EVENT_OK && es->es_pmu->ep_kind == EVENT_INTEL &&
	    perf_name_intel(name) != 0 &&
	    (ec->ec_select & 0xffff) != perf_name_intel(name))
		err = EVENT_UNKNOWN;
	return err;
}

enum event_error
event_lookup(const struct events *es, const char *name, struct event_spec *sp,
    struct event_code *ec)
{
	enum event_error err = find_in_table(es, name, sp, ec);
	char native[160];

	for (unsigned n = 0; err != EVENT_OK &&
			     perf_name_native(name, n, native, sizeof native);
	     n++)
		err = find_native(es, name, native, sp, ec);
	return err;
}

void
event_lookup_refuse(
    const struct events *es, const char *name, enum event_error err)
{
	if (perf_name_hint(name) != NULL)
		fprintf(stderr, "%s: %s: %s\n", usage_name(), name,
		    perf_name_hint(name));
	else if (perf_name_is(name))
		fprintf(stderr,
		    "%s: %s: the table of %s has no event for perf's name\n",
		    usage_name(), name, es->es_pmu->ep_name);
	else
		event_table_refuse(es, name, err);
}
