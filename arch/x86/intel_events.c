/*
 * Architectural events, by the names of Intel's event lists in lower case,
 * and PAPI's presets that mean just the same; sorted by name.  Which of those
 * of the last cache there are goes by its level.
 * Intel SDM vol. 3B, "Pre-defined Architectural Performance Events", and
 * "Fixed-function Performance Counter"; vol. 2A, "CPUID" (leaf 0AH).
 */
#include "arch/x86/intel_events.h"

#define NO_FIXED (-1)

/* Bits of CPUID.0AH:EBX. */
enum {
	CORE_CYCLES,
	INSTRUCTIONS,
	REF_CYCLES,
	LLC_REFERENCES,
	LLC_MISSES,
	BRANCHES,
	BRANCH_MISSES,
	SLOTS,
	BACKEND_BOUND,
	BAD_SPECULATION,
	FRONTEND_BOUND,
	RETIRING,
	LBR_INSERTS,
	FIXED_ALONE = 0xff, /* the fixed PIC itself tells */
};

#define LLC_REFERENCE INTEL_CODE(0x2e, 0x4f)
#define LLC_MISS      INTEL_CODE(0x2e, 0x41)

const struct intel_event intel_events[] = {
	{ "PAPI_br_ins", INTEL_CODE(0xc4, 0), BRANCHES, NO_FIXED, 0, true },
	{ "PAPI_br_msp", INTEL_CODE(0xc5, 0), BRANCH_MISSES, NO_FIXED, 0,
	    true },
	{ "PAPI_l2_tca", LLC_REFERENCE, LLC_REFERENCES, NO_FIXED, 2, true },
	{ "PAPI_l2_tcm", LLC_MISS, LLC_MISSES, NO_FIXED, 2, true },
	{ "PAPI_l3_tca", LLC_REFERENCE, LLC_REFERENCES, NO_FIXED, 3, true },
	{ "PAPI_l3_tcm", LLC_MISS, LLC_MISSES, NO_FIXED, 3, true },
	{ "PAPI_tot_cyc", INTEL_CODE(0x3c, 0), CORE_CYCLES, 1, 0, true },
	{ "PAPI_tot_ins", INTEL_CODE(0xc0, 0), INSTRUCTIONS, 0, 0, true },
	{ "br_inst_retired.all_branches", INTEL_CODE(0xc4, 0), BRANCHES,
	    NO_FIXED, 0, false },
	{ "br_misp_retired.all_branches", INTEL_CODE(0xc5, 0), BRANCH_MISSES,
	    NO_FIXED, 0, false },
	{ "cpu_clk_unhalted.core", INTEL_FIXED_CODE(1), FIXED_ALONE, 1, 0,
	    false },
	{ "cpu_clk_unhalted.ref", INTEL_FIXED_CODE(2), FIXED_ALONE, 2, 0,
	    false },
	{ "cpu_clk_unhalted.ref_p", INTEL_CODE(0x3c, 1), REF_CYCLES, NO_FIXED,
	    0, false },
	{ "cpu_clk_unhalted.thread", INTEL_FIXED_CODE(1), FIXED_ALONE, 1, 0,
	    false },
	{ "cpu_clk_unhalted.thread_p", INTEL_CODE(0x3c, 0), CORE_CYCLES,
	    NO_FIXED, 0, false },
	{ "inst_retired.any_p", INTEL_CODE(0xc0, 0), INSTRUCTIONS, NO_FIXED, 0,
	    false },
	{ "instr_retired.any", INTEL_FIXED_CODE(0), FIXED_ALONE, 0, 0, false },
	{ "lbr_inserts.any", INTEL_CODE(0xe4, 1), LBR_INSERTS, NO_FIXED, 0,
	    false },
	{ "longest_lat_cache.miss", LLC_MISS, LLC_MISSES, NO_FIXED, 0, false },
	{ "longest_lat_cache.reference", LLC_REFERENCE, LLC_REFERENCES,
	    NO_FIXED, 0, false },
	{ "topdown.backend_bound", INTEL_CODE(0xa4, 2), BACKEND_BOUND, NO_FIXED,
	    0, false },
	{ "topdown.bad_speculation", INTEL_CODE(0x73, 0), BAD_SPECULATION,
	    NO_FIXED, 0, false },
	{ "topdown.frontend_bound", INTEL_CODE(0x9c, 1), FRONTEND_BOUND,
	    NO_FIXED, 0, false },
	{ "topdown.retiring", INTEL_CODE(0xc2, 2), RETIRING, NO_FIXED, 0,
	    false },
	{ "topdown.slots", INTEL_FIXED_CODE(3), FIXED_ALONE, 3, 0, false },
	{ "topdown.slots_p", INTEL_CODE(0xa4, 1), SLOTS, NO_FIXED, 0, false },
};
const unsigned intel_nevents = sizeof intel_events / sizeof intel_events[0];
