/*
 * The events of the software PMU, sorted by name: for each model of a CPU the
 * names that this CPU has, and presets of PAPI.
 */
#include "events/machine.h"

#define ANY ~0U

static const struct soft_event {
	const char *fe_name;
	uint8_t fe_event;
	unsigned fe_models; /* bit n: enum soft_model n */
	bool fe_generic;    /* a preset of PAPI */
} soft_events[] = {
	{ "Cycle_cnt", SOFT_CYCLES, 1U << SOFT_ULTRA, false },
	{ "EC_hit", SOFT_EC_HIT, 1U << SOFT_ULTRA, false },
	{ "EC_ref", SOFT_EC_REF, 1U << SOFT_ULTRA, false },
	{ "Instr_cnt", SOFT_INSTRUCTIONS, 1U << SOFT_ULTRA, false },
	{ "PAPI_br_ins", SOFT_BRANCHES, ANY, true },
	{ "PAPI_tot_cyc", SOFT_CYCLES, ANY, true },
	{ "PAPI_tot_ins", SOFT_INSTRUCTIONS, ANY, true },
	{ "branch_retired", SOFT_BRANCHES, 1U << SOFT_P4, false },
	{ "branches", SOFT_BRANCHES, 1U << SOFT_PLAIN, false },
	{ "cycles", SOFT_CYCLES, 1U << SOFT_PLAIN, false },
	{ "global_power_events", SOFT_CYCLES, 1U << SOFT_P4, false },
	{ "instr_retired", SOFT_INSTRUCTIONS, 1U << SOFT_P4, false },
	{ "instructions", SOFT_INSTRUCTIONS, 1U << SOFT_PLAIN, false },
};

static uint64_t
own(const struct cpc_pmu *pm, unsigned n, struct cpc_event *ce)
{
	const struct soft_event *e = &soft_events[n];

	if ((e->fe_models >> pm->pm_family & 1) == 0 ||
	    (e->fe_generic && (pm->pm_generic >> e->fe_event & 1) == 0))
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
