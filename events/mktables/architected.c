/*
 * Presets whose event the architecture defines.  They are the same on each PMU
 * of the architecture, whether or not PAPI knows it.  They are also the same
 * as in events/own_*.c; tests/host/events/presets.c compares them.
 */
#include "events/mktables/tables.h"

#include <fnmatch.h>

#define FAMILY_KNC 11

#define LEVEL_2 2
#define LEVEL_3 3

static const struct {
	enum event_kind kind;
	unsigned level; /* only if the last cache has it; 0: always */
	const char *preset;
	uint64_t code;
} all[] = {
	/* Intel SDM vol. 3B, "Pre-defined Architectural Performance Events". */
	{ EVENT_INTEL, 0, "br_ins", 0x00c4 },
	{ EVENT_INTEL, 0, "br_msp", 0x00c5 },
	{ EVENT_INTEL, LEVEL_2, "l2_tca", 0x4f2e },
	{ EVENT_INTEL, LEVEL_2, "l2_tcm", 0x412e },
	{ EVENT_INTEL, LEVEL_3, "l3_tca", 0x4f2e },
	{ EVENT_INTEL, LEVEL_3, "l3_tcm", 0x412e },
	{ EVENT_INTEL, 0, "tot_cyc", 0x003c },
	{ EVENT_INTEL, 0, "tot_ins", 0x00c0 },
	/* AMD's events of retirement: see own_amd.c. */
	{ EVENT_AMD, 0, "br_ins", 0x00c2 },
	{ EVENT_AMD, 0, "br_msp", 0x00c3 },
	{ EVENT_AMD, 0, "br_tkn", 0x00c4 },
	{ EVENT_AMD, 0, "tot_cyc", 0x0076 },
	{ EVENT_AMD, 0, "tot_ins", 0x00c0 },
	/* Arm ARM (DDI 0487), "PMU events and event numbers". */
	{ EVENT_ARM, 0, "br_ins", 0x0021 },
	{ EVENT_ARM, 0, "br_msp", 0x0022 },
	{ EVENT_ARM, 0, "l1_dca", 0x0004 },
	{ EVENT_ARM, 0, "l1_dcm", 0x0003 },
	{ EVENT_ARM, 0, "l1_ica", 0x0014 },
	{ EVENT_ARM, 0, "l1_icm", 0x0001 },
	{ EVENT_ARM, 0, "l2_dca", 0x0016 },
	{ EVENT_ARM, 0, "l2_dcm", 0x0017 },
	{ EVENT_ARM, 0, "l2_ica", 0x0027 },
	{ EVENT_ARM, 0, "l2_icm", 0x0028 },
	{ EVENT_ARM, 0, "l3_dca", 0x002b },
	{ EVENT_ARM, 0, "l3_dcm", 0x002a },
	{ EVENT_ARM, 0, "ld_ins", 0x0006 },
	{ EVENT_ARM, 0, "res_stl", 0x0024 },
	{ EVENT_ARM, 0, "sr_ins", 0x0007 },
	{ EVENT_ARM, 0, "tlb_dm", 0x0005 },
	{ EVENT_ARM, 0, "tlb_im", 0x0002 },
	{ EVENT_ARM, 0, "tot_cyc", 0x0011 },
	{ EVENT_ARM, 0, "tot_ins", 0x0008 },
};

/*
 * The level of an Intel CPU's last cache; 0: only some parts have a third
 * level, or the CPU is not known.
 */
static unsigned
last_cache(const char *pmu)
{
	static const struct {
		const char *pmu;
		unsigned level;
	} levels[] = { { "ix86arch", 0 }, { "tmt", 0 }, { "ehl", 0 },
		{ "core", LEVEL_2 }, { "atom", LEVEL_2 }, { "slm", LEVEL_2 },
		{ "gl[mp]", LEVEL_2 }, { "kn[lm]", LEVEL_2 },
		{ "*", LEVEL_3 } };
	unsigned i = 0;

	while (fnmatch(levels[i].pmu, pmu, 0) != 0)
		i++;
	return levels[i].level;
}

uint64_t
architected_code(const struct event_pmu *ep, const char *preset)
{
	/* Knights Corner is not of Intel's architecture. */
	if (ep->ep_family == FAMILY_KNC)
		return 0;
	for (unsigned i = 0; i < LENGTH(all); i++) {
		if (all[i].kind == ep->ep_kind &&
		    strcmp(all[i].preset, preset) == 0 &&
		    (all[i].level == 0 ||
			all[i].level == last_cache(ep->ep_name)))
			return all[i].code;
	}
	return 0;
}
