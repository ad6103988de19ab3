/*
 * perf's symbolic names.  Each means what Linux makes of it on the same PMU:
 * architectural events on Intel, K7's and Zen's events on AMD, common events on
 * Arm.  A name without an event there has none here.
 * man perf-list, "SYMBOLIC EVENT TYPES" and "EVENT MODIFIERS";
 * perf_event_open(2), PERF_TYPE_HARDWARE; Linux 6.4's maps of these.
 */
#include "payloads/common/perf_names.h"

#include <stdio.h>
#include <string.h>

#define NATIVES 7

/*
 * Names of the tables come before names of the backends, which exist on a CPU
 * without a table, too.
 */
static const struct symbol {
	const char *sy_name;
	unsigned sy_intel; /* unit mask and event */
	const char *sy_native[NATIVES];
} symbols[] = {
	{ "branch-instructions", 0xc4,
	    { "br_inst_retired.all_branches", "BRANCH_INSTRUCTIONS_RETIRED",
		"RETIRED_BRANCH_INSTRUCTIONS", "pc_write_retired", "br_retired",
		"ExRetBrn", "FR_retired_branches_w_excp_intr" } },
	{ "branch-misses", 0xc5,
	    { "br_misp_retired.all_branches", "MISPREDICTED_BRANCH_RETIRED",
		"RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS",
		"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", "br_mis_pred",
		"ExRetBrnMisp", "FR_retired_branches_mispred" } },
	{ "bus-cycles", 0x13c,
	    { "cpu_clk_unhalted.ref_p", "CPU_CLK_UNHALTED:BUS",
		"CPU_CLK_UNHALTED:REF_XCLK", "bus_cycles" } },
	{ "cache-misses", 0x412e,
	    { "longest_lat_cache.miss", "LLC_MISSES",
		"L2_CACHE_MISS:INSTRUCTIONS:DATA:TLB_WALK",
		"CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:IC_FILL_MISS:"
		"LS_RD_BLK_C",
		"l1d_cache_refill" } },
	{ "cache-references", 0x4f2e,
	    { "longest_lat_cache.reference", "LLC_REFERENCES",
		"REQUESTS_TO_L2:INSTRUCTIONS:DATA:TLB_WALK",
		"REQUESTS_TO_L2_GROUP1:0xff", "l1d_cache" } },
	{ "cycles", 0x3c,
	    { "UNHALTED_CORE_CYCLES", "CPU_CLK_UNHALTED", "CYCLES_NOT_IN_HALT",
		"cpu_cycles", "PAPI_tot_cyc" } },
	{ "instructions", 0xc0,
	    { "INSTRUCTION_RETIRED", "RETIRED_INSTRUCTIONS", "inst_retired",
		"PAPI_tot_ins" } },
	{ "ref-cycles", 0x300,
	    { "UNHALTED_REFERENCE_CYCLES", "cpu_clk_unhalted.ref",
		"P0_FREQ_CYCLES_NOT_IN_HALT:P0_FREQ_CYCLES" } },
};
#define NSYMBOL (sizeof symbols / sizeof symbols[0])

/* Events that have two names in perf. */
static const struct {
	const char *name, *same;
} also[] = {
	{ "branches", "branch-instructions" },
	{ "cpu-cycles", "cycles" },
};
#define NALSO (sizeof also / sizeof also[0])

const char *
symbolic_nth(unsigned n)
{
	if (n < NSYMBOL)
		return symbols[n].sy_name;
	return n < NSYMBOL + NALSO ? also[n - NSYMBOL].name : NULL;
}

/* Is it the symbol, followed by nothing but privilege levels? */
static bool
is(const char *name, const char *symbol)
{
	size_t n = strlen(symbol);

	return strncmp(name, symbol, n) == 0 &&
	       (name[n] == '\0' ||
		   (name[n] == ':' && name[n + 1] != '\0' &&
		       strspn(name + n + 1, "uk") == strlen(name + n + 1)));
}

static const struct symbol *
find(const char *name)
{
	const char *same = NULL;

	for (unsigned i = 0; i < NALSO; i++) {
		if (is(name, also[i].name))
			same = also[i].same;
	}
	for (unsigned i = 0; i < NSYMBOL; i++) {
		if (is(same != NULL ? same : name, symbols[i].sy_name))
			return &symbols[i];
	}
	return NULL;
}

bool
symbolic_is(const char *name)
{
	return find(name) != NULL;
}

unsigned
symbolic_intel(const char *name)
{
	const struct symbol *sy = find(name);

	return sy != NULL ? sy->sy_intel : 0;
}

bool
symbolic_native(const char *name, unsigned n, char *buf, size_t size)
{
	const struct symbol *sy = find(name);
	const char *levels = strchr(name, ':');

	if (sy == NULL || n >= NATIVES || sy->sy_native[n] == NULL)
		return false;
	snprintf(buf, size, "%s%s%s", sy->sy_native[n],
	    levels != NULL && strchr(levels, 'u') != NULL ? ":u" : "",
	    levels != NULL && strchr(levels, 'k') != NULL ? ":k" : "");
	return true;
}
