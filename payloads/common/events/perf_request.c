/* Adds a request by an event's name, perf's names included. */
#include <stdio.h>
#include <string.h>

#include "events/machine.h"
#include "events/nearer.h"
#include "payloads/common/cpc_error.h"
#include "payloads/common/events/perf_names.h"

#define SUGGESTION "did you mean "

/* How far the name is from that which libcpc suggests, or ~0U. */
static unsigned
suggested_distance(const char *event)
{
	const char *at = strstr(cpc_error_text(), SUGGESTION);
	unsigned distance = ~0U;
	char name[EVENT_LETTERS + 1];

	if (at == NULL)
		return distance;
	at += sizeof SUGGESTION - 1;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "?"), at);
	events_is_nearer(event, name, &distance);
	return distance;
}

/* Suggest perf's nearest name, unless libcpc's suggestion is nearer. */
static bool
suggest_perf_name(const char *event)
{
	unsigned best = suggested_distance(event);
	const char *found = NULL, *name;
	char text[80];

	for (unsigned n = 0; (name = perf_name_nth(n)) != NULL; n++) {
		if (events_is_nearer(event, name, &best))
			found = name;
	}
	if (found == NULL)
		return false;
	snprintf(text, sizeof text, "Unknown event: " SUGGESTION "%s?", found);
	cpc_error_override(text);
	return true;
}

/* libcpc suggests near names itself; add a hint only if it has none. */
static void
add_hint(const char *event)
{
	const char *hint = perf_name_hint(event);

	if (cpc_error_subcode() != CPC_INVALID_EVENT)
		return;
	if (hint != NULL)
		cpc_error_override(hint);
	else if (!suggest_perf_name(event) &&
		 strchr(cpc_error_text(), ':') == NULL)
		cpc_error_override(
		    "Unknown event: 'list' prints the events of this CPU");
}

int
perf_add_request(cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t preset,
    uint_t flags, uint_t nattrs, const cpc_attr_t *attrs)
{
	int request =
	    cpc_set_add_request(cpc, set, event, preset, flags, nattrs, attrs);
	char native[160];

	if (!perf_name_is(event)) {
		if (request == -1)
			add_hint(event);
		return request;
	}
	/* Try the names in order, up to the first that the PMU has. */
	for (unsigned n = 0;
	     request == -1 && cpc_error_subcode() == CPC_INVALID_EVENT; n++) {
		if (!perf_name_native(event, n, native, sizeof native)) {
			cpc_error_override(
			    "this PMU has no event for perf's name");
			break;
		}
		request = cpc_set_add_request(
		    cpc, set, native, preset, flags, nattrs, attrs);
	}
	if (request != -1)
		cpc_error_forget(); /* the errors of names tried before */
	return request;
}

bool
perf_name_mistyped(const char *event)
{
	const struct machine *mc = machine_here();

	return cpc_error_subcode() == CPC_INVALID_EVENT &&
	       !perf_name_is(event) &&
	       (mc == NULL || !machine_knows(mc, event));
}
