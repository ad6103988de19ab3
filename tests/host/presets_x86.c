/*
 * PAPI's presets that the backends of x86 know for any CPU are, in the table
 * of a CPU that has them, the same event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/x86/amd_events.h"
#include "arch/x86/intel_events.h"
#include "events/events.h"

/* EN, INT, OS, USR. */
#define CONTROL 0x530000ULL

/* The table's code of the name is that one; false: it has no such name. */
static bool
assert_code(const struct events *es, const char *name, uint64_t code)
{
	struct event_spec sp;
	struct event_code ec;

	if (events_parse(es, name, EVENT_EITHER_CASE, &sp) != EVENT_OK)
		return false;
	assert_int_equal(events_encode(es, &sp, &ec), EVENT_OK);
	if ((ec.ec_select & ~CONTROL) != code)
		fail_msg("%s: %s is %#llx, not %#llx", es->es_pmu->ep_name,
		    name, (unsigned long long)ec.ec_select,
		    (unsigned long long)code);
	return true;
}

/*
 * Where there is a third level of cache, what the second has is its own.
 * Sandy Bridge's table has all branches with the unit mask of sampling alone.
 */
static unsigned
check_intel(const struct events *es)
{
	bool snb = strncmp(es->es_pmu->ep_name, "snb", 3) == 0;
	bool third = false, branch;
	struct event_spec sp;
	unsigned same = 0;

	third =
	    events_parse(es, "PAPI_l3_tca", EVENT_EITHER_CASE, &sp) == EVENT_OK;
	for (unsigned i = 0; i < intel_nevents; i++) {
		const struct intel_event *e = &intel_events[i];

		if (!e->ie_generic || (third && e->ie_cache == 2))
			continue;
		branch = strncmp(e->ie_name, "PAPI_br_", 8) == 0;
		same += assert_code(
		    es, e->ie_name, e->ie_code | (snb && branch ? 0x400 : 0));
	}
	return same;
}

static void
intels_are_the_tables(void **state)
{
	struct events es;

	(void)state;
	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		/* Knights Corner is not of that architecture. */
		if (es.es_pmu->ep_kind == EVENT_INTEL &&
		    strcmp(es.es_pmu->ep_name, "knc") != 0)
			assert_in_range(check_intel(&es), 4, 6);
	}
}

static void
amds_are_the_tables(void **state)
{
	struct events es;

	(void)state;
	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		if (es.es_pmu->ep_kind != EVENT_AMD)
			continue;
		for (unsigned i = 0; i < amd_nevents; i++) {
			if (amd_events[i].ae_generic)
				assert_true(
				    assert_code(&es, amd_events[i].ae_name,
					amd_events[i].ae_code));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intels_are_the_tables),
		cmocka_unit_test(amds_are_the_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
