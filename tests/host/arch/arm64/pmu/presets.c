/*
 * PAPI's presets that are known for any CPU with PMUv3, by PMCEID, are the
 * same event in the table of a CPU that has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "events/machine.h"

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
	const struct cpc_pmu pm = { .pm_general = 1,
		.pm_events = { ~0ULL, ~0ULL } };
	struct event_code ec;
	unsigned same = 0;

	for (unsigned i = 0; i < machine_arm.mk_n; i++) {
		const char *name =
		    *(const char *const *)((const char *)machine_arm.mk_first +
					   i * machine_arm.mk_bytes);
		struct cpc_event ce = { 0 };

		if (machine_arm.mk_own(&pm, i, &ce) == 0 ||
		    (ce.ce_flags & CPC_EVENT_GENERIC) == 0 ||
		    !has_event(es, (unsigned)ce.ce_code))
			continue;
		if (!encode(es, name, &ec) || number(&ec) != ce.ce_code)
			fail_msg("%s: %s is another event", es->es_pmu->ep_name,
			    name);
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
