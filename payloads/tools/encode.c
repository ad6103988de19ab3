/*
 * encode [--cpu NAME] EVENT...: prints the register values of an event, and its
 * full name.
 *
 *	0x5300c0 skl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0:t=0...
 */
#include "payloads/common/events/event_table.h"

#include <stdio.h>

#include "payloads/common/events/event_lookup.h"
#include "payloads/common/usage.h"

#define TEXT 1024

static int
print_encoding(const struct events *es, const char *name)
{
	struct event_spec sp;
	struct event_code ec;
	enum event_error err = event_lookup(es, name, &sp, &ec);
	char text[TEXT];

	if (err == EVENT_UNKNOWN &&
	    events_raw(es->es_pmu->ep_kind, name, &ec)) {
		snprintf(text, sizeof text, "%s", name);
		err = EVENT_OK;
	} else if (err == EVENT_OK) {
		events_canonical(es, &sp, &ec, text, sizeof text);
	}
	if (err != EVENT_OK) {
		event_lookup_refuse(es, name, err);
		return 1;
	}
	printf("%#llx", (unsigned long long)ec.ec_select);
	if (ec.ec_extra != EXTRA_NONE)
		printf(" %s=%#llx", event_table_extra_msr[ec.ec_extra],
		    (unsigned long long)ec.ec_extra_value);
	printf(" %s\n", text);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *cpu =
	    event_table_option(argc, argv, "[--cpu NAME] EVENT...", NULL);
	int status = 0;

	if (optind == argc)
		usage_mistake("no event to encode");
	struct events es = event_table_choose(cpu);
	for (int i = optind; i < argc; i++)
		status |= print_encoding(&es, argv[i]);
	return status;
}
