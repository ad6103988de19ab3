/*
 * The three events of the software PMU, each also as a preset of PAPI, sorted
 * by name.
 */
#include "events/machine.h"

static const struct soft_event {
	const char *fe_name;
	uint8_t fe_event;
	bool fe_generic; /* a preset of PAPI */
} soft_events[] = {
	{ "PAPI_br_ins", SOFT_BRANCHES, true },
	{ "PAPI_tot_cyc", SOFT_CYCLES, true },
	{ "PAPI_tot_ins", SOFT_INSTRUCTIONS, true },
	{ "branches", SOFT_BRANCHES, false },
	{ "cycles", SOFT_CYCLES, false },
	{ "instructions", SOFT_INSTRUCTIONS, false },
};

static uint64_t
own(const struct cpc_pmu *pm, unsigned n, struct cpc_event *ce)
{
	const struct soft_event *e = &soft_events[n];

	if (e->fe_generic && (pm->pm_generic >> e->fe_event & 1) == 0)
		return 0;
	ce->ce_code = SOFT_CODE(e->fe_event);
	ce->ce_flags = e->fe_generic ? CPC_EVENT_GENERIC : 0;
	return pm->pm_own[e->fe_event];
}

static uint64_t
number(const struct cpc_pmu *pm, uint64_t num, struct cpc_event *ce)
{
	ce->ce_code = num <= SOFT_RAW_MAX ? num : EVENT_CODE_TOO_HIGH;
	return pm->pm_general;
}

const struct machine_kind machine_soft = {
	.mk_first = soft_events,
	.mk_n = sizeof soft_events / sizeof soft_events[0],
	.mk_bytes = sizeof soft_events[0],
	.mk_own = own,
	.mk_number = number,
};
