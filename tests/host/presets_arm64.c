/*
 * PAPI's presets that PMUv3's backend knows for any CPU, by PMCEID, are the
 * same event in the table of a CPU that has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/arm64/pmuv3_events.h"
#include "events/events.h"

static unsigned
number(const struct event_code *ec)
{
	return ec->ec_select & 0xffff;
}

static bool
encode(const struct events *es, const char *name, struct event_code *ec)
{
	struct event_spec sp;

	return events_parse(es, name, EVENT_EITHER_CASE, &sp) == EVENT_OK &&
	       events_encode(es, &sp, ec) == EVENT_OK;
}

/* Has the table the common event, whatever it is called? */
static bool
has_event(const struct events *es, unsigned common)
{
	struct event_walk ew = { 0 };
	struct event_code ec;
	char name[256];

	while (events_next(es, &ew, ~0ULL, name, sizeof name)) {
		if (encode(es, name, &ec) && number(&ec) == common)
			return true;
	}
	return false;
}

/*
 * A64FX's loads and stores are its own events: where it lacks the common one
 * the table has the preset all the same.
 */
static unsigned
check(const struct events *es)
{
	struct event_code ec;
	unsigned same = 0;

	for (unsigned i = 0; i < pmuv3_nevents; i++) {
		const struct pmuv3_event *e = &pmuv3_events[i];

		if (!e->pe_generic || !has_event(es, e->pe_number))
			continue;
		if (!encode(es, e->pe_name, &ec) || number(&ec) != e->pe_number)
			fail_msg("%s: %s is another event", es->es_pmu->ep_name,
			    e->pe_name);
		same++;
	}
	return same;
}

static void
common_events_are_the_tables(void **state)
{
	struct events es;

	(void)state;
	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		if (es.es_pmu->ep_kind == EVENT_ARM)
			assert_in_range(check(&es), 10, 19);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(common_events_are_the_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
