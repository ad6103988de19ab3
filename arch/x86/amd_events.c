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

/*
 * On family 15h each unit of a core reports to some of its counters only.
 * Single events differ from their unit; where it depends on the unit mask
 * the PICs are those that count every mask.
 * BKDG for AMD family 15h models 00h-0Fh (42301), "Core Performance Counter
 * Events", the line "PERF_CTL[..]" of each event.
 */
static const struct {
	uint16_t first, last;
	uint8_t pics;
} family_15h[] = {
	{ 0x000, 0x000, 0x08 },
	{ 0x003, 0x004, 0x08 },
	{ 0x00b, 0x00b, 0x08 },
	{ 0x00d, 0x00d, 0x08 },
	{ 0x023, 0x023, 0x07 },
	{ 0x02d, 0x02d, 0x08 },
	{ 0x02e, 0x02e, 0x09 },
	{ 0x031, 0x031, 0x07 },
	{ 0x043, 0x043, 0x07 },
	{ 0x045, 0x046, 0x07 },
	{ 0x054, 0x055, 0x07 },
	{ 0x08f, 0x08f, 0x01 },
	{ 0x0db, 0x0df, 0x3f },
	{ 0x187, 0x188, 0x01 },
	{ 0x1c0, 0x1c0, 0x38 },
	{ 0x1d6, 0x1d6, 0x3f },
	{ 0x1d8, 0x1d8, 0x3f },
};

/* The same by unit, which is bits 7:4 of the event. */
static const uint8_t family_15h_unit[16] = {
	0x38, 0x38,             /* floating point */
	0x3f, 0x3f, 0x3f, 0x3f, /* load and store, data cache */
	0x07, 0x07, 0x07, 0x07, /* second-level cache, fetch, decode */
	0x00, 0x00, 0x3f, 0x07, /* none, execution, decode */
	0x00, 0x00,             /* northbridge: not core counters' */
};

uint32_t
amd_event_pics(unsigned family, uint64_t code)
{
	unsigned event = AMD_CODE_EVENT(code);
	unsigned i, n = sizeof family_15h / sizeof family_15h[0];

	if (family != AMD_FAMILY_15H)
		return ALL_PIC;
	for (i = 0; i < n; i++) {
		if (event >= family_15h[i].first && event <= family_15h[i].last)
			return family_15h[i].pics;
	}
	return family_15h_unit[event >> 4 & 0xf];
}
