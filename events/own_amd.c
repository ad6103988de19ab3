/*
 * The own events of AMD: retirement and clock, which mean the same since K7.
 * They have the names of each generation's manual, or of PAPI's presets, and
 * are sorted by name. BIOS and Kernel Developer's Guides for family 0Fh
 * (26094), 10h (31116) and 15h (42301), "Performance Counter Events"; Processor
 * Programming Reference for family 17h (54945), "Core Performance Monitor
 * Counters".
 */
#include "events/machine.h"
#include "events/select.h"

#define OLDER  6, 0x16 /* families from K7 on */
#define NEWER  AMD_FAMILY_ZEN, 0xff
#define ALWAYS 6, 0xff

static const struct amd_event {
	const char *ae_name;
	uint64_t ae_code;
	uint8_t ae_first, ae_last; /* families that have this name */
	bool ae_generic;           /* a preset of PAPI */
} amd_events[] = {
	{ "BU_cpu_clk_unhalted", AMD_CODE(AMD_CYCLES, 0), OLDER, false },
	{ "ExRetBrn", AMD_CODE(0x0c2, 0), NEWER, false },
	{ "ExRetBrnFar", AMD_CODE(0x0c6, 0), NEWER, false },
	{ "ExRetBrnMisp", AMD_CODE(0x0c3, 0), NEWER, false },
	{ "ExRetBrnTkn", AMD_CODE(0x0c4, 0), NEWER, false },
	{ "ExRetBrnTknMisp", AMD_CODE(0x0c5, 0), NEWER, false },
	{ "ExRetInstr", AMD_CODE(AMD_INSTRUCTIONS, 0), NEWER, false },
	{ "ExRetNearRet", AMD_CODE(0x0c8, 0), NEWER, false },
	{ "ExRetNearRetMispred", AMD_CODE(0x0c9, 0), NEWER, false },
	{ "FR_retired_branches_mispred", AMD_CODE(0x0c3, 0), OLDER, false },
	{ "FR_retired_branches_w_excp_intr", AMD_CODE(0x0c2, 0), OLDER, false },
	{ "FR_retired_far_ctl_transfer", AMD_CODE(0x0c6, 0), OLDER, false },
	{ "FR_retired_near_returns", AMD_CODE(0x0c8, 0), OLDER, false },
	{ "FR_retired_near_returns_mispred", AMD_CODE(0x0c9, 0), OLDER, false },
	{ "FR_retired_taken_branches", AMD_CODE(0x0c4, 0), OLDER, false },
	{ "FR_retired_taken_branches_mispred", AMD_CODE(0x0c5, 0), OLDER,
	    false },
	{ "FR_retired_uops", AMD_CODE(0x0c1, 0), OLDER, false },
	{ "FR_retired_x86_instr_w_excp_intr", AMD_CODE(AMD_INSTRUCTIONS, 0),
	    OLDER, false },
	{ "LsNotHaltedCyc", AMD_CODE(AMD_CYCLES, 0), NEWER, false },
	{ "PAPI_br_ins", AMD_CODE(0x0c2, 0), ALWAYS, true },
	{ "PAPI_br_msp", AMD_CODE(0x0c3, 0), ALWAYS, true },
	{ "PAPI_br_tkn", AMD_CODE(0x0c4, 0), ALWAYS, true },
	{ "PAPI_tot_cyc", AMD_CODE(AMD_CYCLES, 0), ALWAYS, true },
	{ "PAPI_tot_ins", AMD_CODE(AMD_INSTRUCTIONS, 0), ALWAYS, true },
};

static uint64_t
coverage(const struct cpc_pmu *pm, uint64_t code)
{
	return pm->pm_general & amd_event_pics(pm->pm_family, code);
}

static uint64_t
own(const struct cpc_pmu *pm, unsigned n, struct cpc_event *ce)
{
	const struct amd_event *e = &amd_events[n];

	if (pm->pm_family < e->ae_first || pm->pm_family > e->ae_last)
		return 0;
	ce->ce_code = e->ae_code;
	ce->ce_flags = e->ae_generic ? CPC_EVENT_GENERIC : 0;
	if (machine_unmodelled(pm, e->ae_code))
		ce->ce_flags |= CPC_EVENT_LACKING;
	return coverage(pm, e->ae_code);
}

/* The kernel checks which numbers the family has. */
static uint64_t
number(const struct cpc_pmu *pm, uint64_t num, struct cpc_event *ce)
{
	if (num > AMD_RAW_MAX) {
		ce->ce_code = EVENT_CODE_TOO_HIGH;
		return pm->pm_general;
	}
	ce->ce_code = AMD_CODE(num, 0U);
	return coverage(pm, ce->ce_code);
}

/* The tables do not name PICs. */
static uint64_t
tabled(
    const struct cpc_pmu *pm, const struct event_code *ec, struct cpc_event *ce)
{
	ce->ce_code = event_select_only(ec);
	if ((ce->ce_code & (AMD_GUEST | AMD_HOST)) != 0 ||
	    machine_unmodelled(pm, ce->ce_code))
		ce->ce_flags |= CPC_EVENT_LACKING;
	return coverage(pm, ce->ce_code);
}

const struct machine_kind machine_amd = {
	.mk_first = amd_events,
	.mk_n = sizeof amd_events / sizeof amd_events[0],
	.mk_bytes = sizeof amd_events[0],
	.mk_kind = EVENT_AMD,
	.mk_own = own,
	.mk_number = number,
	.mk_tabled = tabled,
};
