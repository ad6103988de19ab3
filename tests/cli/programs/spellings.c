/*
 * spellings: compare libpfm4's names with ours.  Each line of the input is one
 * of events/mktables/file/codes.c: `skl INST_RETIRED:ANY_P 0x5300c0 0`.  Print
 * the names that have another code here, then how many are equal, and how many
 * are not in our tables.
 */
#include <stdio.h>

#include "events/events.h"
#include "events/select.h"

int
main(void)
{
	unsigned long long select, extra;
	unsigned equal = 0, absent = 0;
	char pmu[64], name[256];
	struct event_spec sp;
	struct event_code ec;
	struct events es;

	while (scanf("%63s %255s %llx %llx", pmu, name, &select, &extra) == 4) {
		es = events_find(event_dbs, pmu);
		if (events_parse(&es, name, EVENT_ANY_CASE, &sp) != EVENT_OK ||
		    events_encode(&es, &sp, &ec) != EVENT_OK) {
			absent++;
			continue;
		}
		/* The levels of Arm's are not as libpfm4 has them. */
		if (((ec.ec_select ^ select) &
			(es.es_pmu->ep_kind == EVENT_ARM ? 0xffff : ~0ULL)) !=
			0 ||
		    ec.ec_extra_value != extra)
			printf("%s %s %#llx\n", pmu, name, select);
		else
			equal++;
	}
	printf("%u equal, %u absent\n", equal, absent);
	return 0;
}
