/* Presets that every x86 CPU offers are the events of the CPUs' tables. */
#include <string.h>

#include "events/machine.h"
#include "tests/lib/host/test.h"

/* EN, INT, OS, USR. */
#define CONTROL 0x530000ULL

/* The name of the nth event of this kind if the PMU has the preset, or NULL. */
static const char *
preset_name(const struct machine_kind *mk, const struct cpc_pmu *pm, unsigned n,
    uint64_t *code)
{
	struct cpc_event ce = { 0 };

	if (mk->mk_own(pm, n, &ce) == 0 ||
	    (ce.ce_flags & CPC_EVENT_GENERIC) == 0)
		return NULL;
	*code = ce.ce_code;
	return *(
	    const char *const *)((const char *)mk->mk_first + n * mk->mk_bytes);
}

/* Does the table encode the name as this code?  False: it lacks the name. */
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

/* With a third level of cache, the second level has no preset of this kind. */
static unsigned
check_intel(const struct events *es)
{
	struct cpc_pmu pm = { .pm_general = 1, .pm_events = { ~0ULL } };
	const char *name;
	struct event_spec sp;
	unsigned same = 0;
	uint64_t code;

	pm.pm_cache =
	    events_parse(es, "PAPI_l3_tca", EVENT_EITHER_CASE, &sp) == EVENT_OK
		? 3
		: 2;
	for (unsigned i = 0; i < machine_intel.mk_n; i++) {
		if ((name = preset_name(&machine_intel, &pm, i, &code)) == NULL)
			continue;
		same += assert_code(es, name, code);
	}
	return same;
}

TEST(intel_presets_match_the_tables)
{
	struct events es;

	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		/* No architectural performance monitoring. */
		if (es.es_pmu->ep_kind == EVENT_INTEL &&
		    strcmp(es.es_pmu->ep_name, "knc") != 0)
			assert_in_range(check_intel(&es), 4, 6);
	}
}

TEST(amd_presets_match_the_tables)
{
	const struct cpc_pmu pm = { .pm_general = 1, .pm_family = 0x19 };
	const char *name;
	uint64_t code;
	struct events es;

	for (unsigned n = 0; (es = events_nth(event_dbs, n)).es_pmu != NULL;
	     n++) {
		if (es.es_pmu->ep_kind != EVENT_AMD)
			continue;
		for (unsigned i = 0; i < machine_amd.mk_n; i++) {
			name = preset_name(&machine_amd, &pm, i, &code);
			if (name != NULL)
				assert_true(assert_code(&es, name, code));
		}
	}
}
