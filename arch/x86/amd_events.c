/*
 * Retirement and clock events, which mean the same on all AMD parts since
 * K7: by the names each generation's manual gives them, and PAPI's presets;
 * sorted by name.
 * Any other event goes by its number.
 * BIOS and Kernel Developer's Guides for family 0Fh (26094), 10h (31116) and
 * 15h (42301), "Performance Counter Events"; Processor Programming Reference
 * for family 17h (54945), "Core Performance Monitor Counters".
 */
#include "arch/x86/amd_events.h"

#include "events/events.h"

#define OLDER   6, 0x16 /* families, K7's on */
#define NEWER   AMD_FAMILY_ZEN, 0xff
#define ALWAYS  6, 0xff
#define ALL_PIC 0xffffffffU

const struct amd_event amd_events[] = {
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
const unsigned amd_nevents = sizeof amd_events / sizeof amd_events[0];

uint32_t
amd_event_pics(unsigned family, uint64_t code)
{
	if (family != AMD_FAMILY_15H)
		return ALL_PIC;
	return events_amd_15h_pics(AMD_CODE_EVENT(code));
}
