/*
 * Presets that PAPI maps to one event which does not count what the preset
 * says, by the event's description in libpfm4.  The first line that matches
 * decides.  A preset without a line is offered, so check the lines again for
 * another version of PAPI.  docs/events.md has the rule.
 */
#include "events/mktables/tables.h"

#include <fnmatch.h>

static const struct {
	const char *pmu, *preset, *event; /* patterns */
	enum preset_why why;
} lines[] = {
	/*
	 * Instructions: a preset counts retired ones, each once.  INST_SPEC and
	 * others are "operation speculatively executed" in the Arm ARM.
	 */
	{ "arm_*", "tot_iis", "*", PRESET_OPERATIONS },
	{ "*", "tot_iis", "*", PRESET_OTHER }, /* decoded, or at retirement */
	{ "*", "br_*", "BR_*_EXEC*", PRESET_EXECUTED },
	{ "arm_*", "*", "INST_SPEC_EXEC_*", PRESET_EXECUTED },
	{ "arm_thunderx2", "*", "*_SPEC", PRESET_EXECUTED },
	{ "arm_*", "br_*", "BR_PRED", PRESET_EXECUTED },
	{ "arm_*", "br_*", "BR_MIS_PRED", PRESET_EXECUTED },
	{ "arm_*", "br_*", "BRANCH_*PRED", PRESET_EXECUTED },
	{ "*", "fp_*", "FP_COMP_OPS_EXE*", PRESET_UOPS },
	{ "core", "f[md][lv]_ins", "*", PRESET_EXECUTED },
	{ "amd64_*", "f*", "DISPATCHED_FPU*", PRESET_EXECUTED },
	{ "amd64_*", "l1_dca", "LS_DISPATCH*", PRESET_EXECUTED },
	{ "snb*", "[ls][dr]_ins", "MEM_UOP*", PRESET_UOPS },
	{ "ivb*", "[ls][dr]_ins", "MEM_UOP*", PRESET_UOPS },
	{ "hsw*", "[ls][dr]_ins", "MEM_UOP*", PRESET_UOPS },
	{ "bdw*", "[ls][dr]_ins", "MEM_UOP*", PRESET_UOPS },
	/* By their names, Skylake's and Cascade Lake's are instructions. */
	{ "kn[lm]", "[ls][dr]_ins", "MEM_UOP*", PRESET_UOPS },
	{ "slm", "res_stl", "*", PRESET_OTHER }, /* nothing retires */
	{ "*", "*_ccy", "UOPS_RETIRED*", PRESET_UOPS },
	{ "arm_*", "[ls][dr]_ins", "DATA_MEM_*", PRESET_ACCESSES },
	{ "knc", "[ls][dr]_ins", "*", PRESET_ACCESSES },
	{ "netburst*", "l1_ica", "*", PRESET_UOPS },
	/* Operations of vectors; a counter adds at most fifteen a cycle. */
	{ "amd64_*", "fp_ops", "RETIRED_SSE_AVX_FLOPS:*", PRESET_MERGED },
	{ "amd64_*", "f*_ins", "RETIRED_SSE_*", PRESET_OPERATIONS },
	{ "amd64_*", "vec_ins", "RETIRED_SSE_*", PRESET_OPERATIONS },
	{ "amd64_*", "fp_ops", "RETIRED_SSE_*", PRESET_LESS }, /* no x87 */
	{ "amd64_*", "fp_ins", "*", PRESET_MORE },             /* moves, MMX */
	{ "amd64_k8*", "vec_ins", "*", PRESET_LESS },          /* no MMX */
	{ "amd64_fam11h*", "vec_ins", "*", PRESET_LESS },
	{ "amd64_*", "vec_ins", "*", PRESET_MORE }, /* scalar SSE */
	{ "atom", "fp_ins", "SIMD_INST_RETIRED*", PRESET_MORE }, /* integers */
	{ "*", "vec_ins", "SIMD_INST_RETIRED:VECTOR", PRESET_LESS },
	{ "atom", "f[md][lv]_ins", "*", PRESET_MORE }, /* integers */
	{ "*", "fdv_ins", "ARITH:FPU_DIV", PRESET_MORE },
	/* Branches: br_msp, br_prc and br_tkn count all kinds of branches. */
	{ "*", "br_msp", "BR_MISP_RETIRED:COND*", PRESET_LESS },
	{ "*", "br_tkn", "BR_INST_RETIRED:COND_TAKEN", PRESET_LESS },
	{ "*", "br_tkn", "BR_INST_RETIRED:TAKEN_JCC", PRESET_LESS },
	{ "knc", "br_msp", "*", PRESET_LESS }, /* of those predicted */
	/*
	 * Caches: requests to the next level are not the misses of this one.
	 * They include prefetches, and misses of one line make one request.
	 */
	{ "*", "l1_*", "L2_*", PRESET_LEVEL },
	{ "*", "l1_*", "LLC_*", PRESET_LEVEL },
	{ "*", "l1_*", "LAST_LEVEL_CACHE_*", PRESET_LEVEL },
	{ "*", "l1_*", "REQUESTS_TO_L2_*", PRESET_LEVEL },
	{ "*", "l2_*", "L1*", PRESET_LEVEL },
	{ "*", "l2_*", "INSTRUCTION_CACHE_MISSES", PRESET_LEVEL },
	{ "*", "l2_*", "32_BYTE_INSTRUCTION_CACHE_*", PRESET_LEVEL },
	{ "*", "l2_*", "BUS_TRANS_*", PRESET_LEVEL },
	{ "*", "l2_*", "LLC_REFERENCES", PRESET_LEVEL },
	{ "*", "l2_*", "LAST_LEVEL_CACHE_REFERENCES", PRESET_LEVEL },
	{ "*", "l3_*", "L2_*", PRESET_LEVEL },
	{ "*", "l3_*", "OFFCORE_*", PRESET_LEVEL },
	{ "kn[lm]", "l1_dcm", "*:LD_*", PRESET_LESS }, /* loads */
	{ "*", "l1_dcm", "*:DC_MISS_STREAMING_STORE", PRESET_MORE },
	{ "*", "l2_dca", "*:ALL_DEMAND_REFERENCES", PRESET_MORE }, /* code */
	{ "amd64_fam17h*", "l2_dch", "*", PRESET_LESS }, /* one state */
	{ "amd64_fam17h*", "l2_dcr", "*", PRESET_LESS },
	{ "amd64_fam19h*", "l2_dcr", "*", PRESET_MORE },            /* stores */
	{ "amd64_*", "l2_tca", "REQUESTS_TO_L2:ALL", PRESET_MORE }, /* probes */
	{ "arm_*", "l2_dch", "*", PRESET_ACCESSES },
	{ "arm_*", "l2_tca", "L2D_CACHE", PRESET_LESS }, /* data */
	{ "knc", "l2_ldm", "*", PRESET_TWICE },
	{ "*", "l2_stm", "L2_M_LINES_IN*", PRESET_OTHER },
	{ "netburst*", "l[12]_ldm", "*",
	    PRESET_REGISTERS },                          /* tags of replays */
	{ "netburst*", "l2_tc[ahm]", "*", PRESET_LESS }, /* reads */
	{ "[hb][sd]w*", "prf_dm", "*", PRESET_LESS },    /* L2's prefetchers */
	/* Lines and snoops: another kind of request, or any state. */
	{ "*", "ca_cln", "*", PRESET_MORE },
	{ "*", "ca_shr", "*", PRESET_OTHER },
	{ "*", "ca_inv", "*", PRESET_OTHER },
	{ "*", "ca_itv", "*", PRESET_OTHER },
	{ "*", "ca_snp", "OFFCORE_RESPONSE_*", PRESET_OTHER },
	{ "kn[lm]", "tlb_dm", "*", PRESET_LESS }, /* loads */
	/* Cycles: why retirement waits does not say that a unit is idle. */
	{ "arm_a64fx", "???_idl", "*", PRESET_OTHER },
	{ "amd64_k8*", "fpu_idl", "*", PRESET_OTHER },
	{ "kn[lm]", "stl_icy", "NO_ALLOC_CYCLES:ANY", PRESET_EXACT },
	{ "*", "stl_icy", "*", PRESET_LESS }, /* for want of instructions */
	{ "kn[lm]", "res_stl", "*", PRESET_LESS },    /* full stations */
	{ "netburst*", "res_stl", "*", PRESET_LESS }, /* store buffers */
	/* Interrupts. */
	{ "atom", "hw_int", "*", PRESET_TWICE },
	{ "arm_*", "hw_int", "*", PRESET_MORE }, /* exceptions */
};

enum preset_why
preset_denied(const char *pmu, const char *preset, const char *event)
{
	for (unsigned i = 0; i < LENGTH(lines); i++) {
		if (fnmatch(lines[i].pmu, pmu, 0) == 0 &&
		    fnmatch(lines[i].preset, preset, 0) == 0 &&
		    fnmatch(lines[i].event, event, 0) == 0)
			return lines[i].why;
	}
	return PRESET_EXACT;
}
