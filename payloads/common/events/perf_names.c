/*
 * perf's symbolic names.  Each means the event that Linux maps it to on the
 * same PMU.  On Intel that is an architectural event, on AMD one of K7 or Zen,
 * on Arm a common event.  A name that Linux does not map is not mapped here.
 * Names of caches and TLBs stand for events of each model, as on Skylake and
 * on Armv8.  Linux counts loads of Intel's last cache by OFFCORE_RESPONSE,
 * which has no such name here.
 * man perf-list, "SYMBOLIC EVENT TYPES" and "EVENT MODIFIERS";
 * perf_event_open(2), PERF_TYPE_HARDWARE; Linux 6.4's maps of these.
 */
#include "payloads/common/events/perf_names.h"

#include <stdio.h>
#include <string.h>

#define NATIVES 8

/*
 * For each name: its event on Intel, and the names to try in order.  Names of
 * tables come first.  Names of backends, which need no table, follow.
 */
static const struct symbol {
	const char *sy_name;
	unsigned sy_intel; /* unit mask and event select, or 0: a model's */
	const char *sy_native[NATIVES];
} symbols[] = {
	{ "L1-dcache-load-misses", 0,
	    { "L1D:REPLACEMENT", "L1D:REPL", "l1d_cache_refill" } },
	{ "L1-dcache-loads", 0,
	    { "MEM_INST_RETIRED:ALL_LOADS", "MEM_UOPS_RETIRED:ALL_LOADS",
		"MEM_INST_RETIRED:LOADS", "LS_DC_ACCESSES", "l1d_cache" } },
	{ "L1-icache-load-misses", 0,
	    { "ICACHE_64B:IFTAG_MISS", "ICACHE:MISSES", "L1I:MISSES",
		"l1i_cache_refill" } },
	{ "L1-icache-loads", 0, { "L1I:READS", "l1i_cache" } },
	{ "LLC-load-misses", 0, { "ll_cache_miss_rd" } },
	{ "LLC-loads", 0, { "ll_cache_rd" } },
	{ "branch-instructions", 0xc4,
	    { "br_inst_retired.all_branches", "BRANCH_INSTRUCTIONS_RETIRED",
		"RETIRED_BRANCH_INSTRUCTIONS", "EX_RET_BRN", "pc_write_retired",
		"br_retired", "ExRetBrn", "FR_retired_branches_w_excp_intr" } },
	{ "branch-misses", 0xc5,
	    { "br_misp_retired.all_branches", "MISPREDICTED_BRANCH_RETIRED",
		"RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS",
		"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", "EX_RET_BRN_MISP",
		"br_mis_pred", "ExRetBrnMisp",
		"FR_retired_branches_mispred" } },
	{ "bus-cycles", 0x13c,
	    { "cpu_clk_unhalted.ref_p", "CPU_CLK_UNHALTED:BUS",
		"CPU_CLK_UNHALTED:REF_XCLK", "bus_cycles" } },
	{ "cache-misses", 0x412e,
	    { "longest_lat_cache.miss", "LLC_MISSES",
		"L2_CACHE_MISS:INSTRUCTIONS:DATA:TLB_WALK",
		"L2_CACHE_REQ_STAT:IC_DC_MISS_IN_L2", "l1d_cache_refill" } },
	{ "cache-references", 0x4f2e,
	    { "longest_lat_cache.reference", "LLC_REFERENCES",
		"REQUESTS_TO_L2:INSTRUCTIONS:DATA:TLB_WALK",
		"L2_REQUEST_G1:0xff", "l1d_cache" } },
	{ "cycles", 0x3c,
	    { "UNHALTED_CORE_CYCLES", "CPU_CLK_UNHALTED", "CYCLES_NOT_IN_HALT",
		"LS_NOT_HALTED_CYC", "cpu_cycles", "PAPI_tot_cyc" } },
	{ "dTLB-load-misses", 0,
	    { "DTLB_LOAD_MISSES:WALK_COMPLETED",
		"DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK", "l1d_tlb_refill" } },
	{ "dTLB-loads", 0,
	    { "MEM_INST_RETIRED:ALL_LOADS", "MEM_UOPS_RETIRED:ALL_LOADS",
		"MEM_INST_RETIRED:LOADS", "l1d_tlb" } },
	{ "iTLB-load-misses", 0,
	    { "ITLB_MISSES:WALK_COMPLETED", "ITLB_MISSES:MISS_CAUSES_A_WALK",
		"l1i_tlb_refill" } },
	{ "iTLB-loads", 0, { "ITLB_MISSES:STLB_HIT", "l1i_tlb" } },
	{ "instructions", 0xc0,
	    { "INSTRUCTION_RETIRED", "RETIRED_INSTRUCTIONS", "EX_RET_INSTR",
		"inst_retired", "PAPI_tot_ins" } },
	{ "ref-cycles", 0x300,
	    { "UNHALTED_REFERENCE_CYCLES", "cpu_clk_unhalted.ref",
		"P0_FREQ_CYCLES_NOT_IN_HALT:P0_FREQ_CYCLES" } },
};
#define NSYMBOL (sizeof symbols / sizeof symbols[0])

/* Second names that perf has for an event. */
static const struct {
	const char *name, *same;
} aliases[] = {
	{ "branches", "branch-instructions" },
	{ "cpu-cycles", "cycles" },
};
#define NALIAS (sizeof aliases / sizeof aliases[0])

const char *
perf_name_nth(unsigned n)
{
	if (n < NSYMBOL)
		return symbols[n].sy_name;
	return n < NSYMBOL + NALIAS ? aliases[n - NSYMBOL].name : NULL;
}

/* The length of a PMU's name and its slash, `cpu_core/`; 0: no such name. */
static size_t
pmu_length(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && name[n] == '/' ? n + 1 : 0;
}

/*
 * Is the name this symbol, alone or with privilege levels (`:u`, `:uk`)?  After
 * the name of a PMU a slash ends it (`cpu_core/cycles/`, `cpu_core/cycles/u`).
 */
static bool
is_symbol(const char *name, const char *symbol)
{
	size_t pmu = pmu_length(name), n = strlen(symbol);

	name += pmu;
	if (strncmp(name, symbol, n) != 0)
		return false;
	name += n;
	if (pmu != 0 && *name == '/')
		return strspn(name + 1, "uk") == strlen(name + 1);
	return pmu == 0 && (*name == '\0' ||
			       (*name == ':' && name[1] != '\0' &&
				   strspn(name + 1, "uk") == strlen(name + 1)));
}

static const struct symbol *
find_symbol(const char *name)
{
	const char *same = NULL;

	for (unsigned i = 0; i < NALIAS; i++) {
		if (is_symbol(name, aliases[i].name))
			same = aliases[i].same;
	}
	for (unsigned i = 0; i < NSYMBOL; i++) {
		if (is_symbol(same != NULL ? same : name, symbols[i].sy_name))
			return &symbols[i];
	}
	return NULL;
}

bool
perf_name_is(const char *name)
{
	return find_symbol(name) != NULL;
}

const char *
perf_name_hint(const char *name)
{
	const char *last = strrchr(name, ':');

	if (strstr(name, "period=") != NULL)
		return "give the period by -c of record, not in the event";
	if (strstr(name, "name=") != NULL)
		return "leave name= out: the event is printed as it is written";
	if (strncmp(name, "perf::", 6) == 0)
		return "perf:: is libpfm4's list of Linux's events: give "
		       "perf's own name, as cycles";
	if (last != NULL && strlen(last) == 2 &&
	    strchr("IGHPSDW", last[1]) != NULL)
		return "only the levels :u and :k may follow an event";
	return NULL;
}

unsigned
perf_name_intel(const char *name)
{
	const struct symbol *sy = find_symbol(name);

	return sy != NULL ? sy->sy_intel : 0;
}

bool
perf_name_native(const char *name, unsigned n, char *buf, size_t size)
{
	const struct symbol *sy = find_symbol(name);
	size_t pmu = pmu_length(name);
	const char *levels = strchr(name + pmu, pmu != 0 ? '/' : ':');

	if (sy == NULL || n >= NATIVES || sy->sy_native[n] == NULL)
		return false;
	if (pmu != 0)
		snprintf(buf, size, "%.*s%s%s", (int)pmu, name,
		    sy->sy_native[n], levels);
	else
		snprintf(buf, size, "%s%s%s", sy->sy_native[n],
		    levels != NULL && strchr(levels, 'u') != NULL ? ":u" : "",
		    levels != NULL && strchr(levels, 'k') != NULL ? ":k" : "");
	return true;
}
