/*
 * Add a request by an event's name, perf's names included.
 */
#include <stdio.h>
#include <string.h>

#include "events/machine.h"
#include "payloads/common/cpc_error.h"
#include "payloads/common/perf_names.h"

/* libcpc suggests near names itself; add a hint only if it has none. */
static void
say_more(void)
{
	if (detail_subcode() == CPC_INVALID_EVENT &&
	    strchr(detail_text(), ':') == NULL)
		cpc_error_override(
		    "Unknown event: 'list' prints those of this CPU");
}

int
symbolic_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs)
{
	int request =
	    cpc_set_add_request(cpc, set, event, preset, flags, nattrs, attrs);
	char native[160];

	if (!symbolic_is(event)) {
		if (request == -1)
			say_more();
		return request;
	}
	/* A name that exists is used, even if it is refused. */
	for (unsigned n = 0;
	     request == -1 && detail_subcode() == CPC_INVALID_EVENT; n++) {
		if (!symbolic_native(event, n, native, sizeof native)) {
			cpc_error_override(
			    "this PMU has no event for perf's name");
			break;
		}
		request = cpc_set_add_request(
		    cpc, set, native, preset, flags, nattrs, attrs);
	}
	if (request != -1)
		detail_forget(); /* errors of names that this PMU lacks */
	return request;
}

bool
symbolic_mistyped(const char *event)
{
	const struct machine *mc = machine_here();

	return detail_subcode() == CPC_INVALID_EVENT && !symbolic_is(event) &&
	       (mc == NULL || !machine_knows(mc, event));
}
