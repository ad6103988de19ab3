/*
 * Look up an event by any name that programs accept: of a table, or perf's.
 */
#include "payloads/common/event_lookup.h"

#include <stdio.h>
#include <string.h>

#include "payloads/common/event_table.h"
#include "payloads/common/perf_names.h"
#include "payloads/common/usage.h"

static enum event_error
find(const struct events *es, const char *name, struct event_spec *sp,
    struct event_code *ec)
{
	enum event_error err = events_parse(es, name, EVENT_ANY_CASE, sp);

	return err == EVENT_OK ? events_encode(es, sp, ec) : err;
}

/*
 * On Intel a symbol of perf is an architectural event.  A table may have
 * another event of that name: Sandy Bridge's has only the precise event of
 * branches.  A preset is for a backend without a table: NetBurst's cycles are
 * not perf's.
 */
static enum event_error
find_native(const struct events *es, const char *name, const char *native,
    struct event_spec *sp, struct event_code *ec)
{
	enum event_error err = strncmp(native, "PAPI_", 5) == 0
	                           ? EVENT_UNKNOWN
	                           : find(es, native, sp, ec);

	if (err == EVENT_OK && es->es_pmu->ep_kind == EVENT_INTEL &&
	    (ec->ec_select & 0xffff) != symbolic_intel(name))
		err = EVENT_UNKNOWN;
	return err;
}

enum event_error
lookup(const struct events *es, const char *name, struct event_spec *sp,
    struct event_code *ec)
{
	enum event_error err = find(es, name, sp, ec);
	char native[160];

	for (unsigned n = 0;
	     err != EVENT_OK && symbolic_native(name, n, native, sizeof native);
	     n++)
		err = find_native(es, name, native, sp, ec);
	return err;
}

void
lookup_refuse(const struct events *es, const char *name, enum event_error err)
{
	if (symbolic_is(name))
		fprintf(stderr,
		    "%s: %s: the table of %s has no event for perf's name\n",
		    usage_name(), name, es->es_pmu->ep_name);
	else
		names_refuse(es, name, err);
}
