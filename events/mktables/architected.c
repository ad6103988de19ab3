/*
 * Presets whose event the architecture defines.  They are the same on each PMU
 * of the architecture, whether or not PAPI knows it.  They are also the same
 * as in events/own_*.c; tests/host/events/presets.c compares them.
 */
#include "events/mktables/tables.h"

#include <fnmatch.h>

#define FAMILY_KNC 11

/*
 * Intel SDM vol. 3B, "Pre-defined Architectural Performance Events".  Knights
 * Corner is not of that architecture.
 */
static const struct architected intel[] = {
	{ "br_ins", 0x00c4 },
	{ "br_msp", 0x00c5 },
	{ "tot_cyc", 0x003c },
	{ "tot_ins", 0x00c0 },
	{ NULL, 0 },
};

/* The same with events of the last cache, which is level 2 or 3. */
static const struct architected intel_l2[] = {
	{ "br_ins", 0x00c4 },
	{ "br_msp", 0x00c5 },
	{ "l2_tca", 0x4f2e },
	{ "l2_tcm", 0x412e },
	{ "tot_cyc", 0x003c },
	{ "tot_ins", 0x00c0 },
	{ NULL, 0 },
};
static const struct architected intel_l3[] = {
	{ "br_ins", 0x00c4 },
	{ "br_msp", 0x00c5 },
	{ "l3_tca", 0x4f2e },
	{ "l3_tcm", 0x412e },
	{ "tot_cyc", 0x003c },
	{ "tot_ins", 0x00c0 },
	{ NULL, 0 },
};

/* AMD's events of retirement, the same on each family; see own_amd.c. */
static const struct architected amd[] = {
	{ "br_ins", 0x00c2 },
	{ "br_msp", 0x00c3 },
	{ "br_tkn", 0x00c4 },
	{ "tot_cyc", 0x0076 },
	{ "tot_ins", 0x00c0 },
	{ NULL, 0 },
};

/* Arm ARM (DDI 0487), "PMU events and event numbers", the common events. */
static const struct architected arm[] = {
	{ "br_ins", 0x0021 },
	{ "br_msp", 0x0022 },
	{ "l1_dca", 0x0004 },
	{ "l1_dcm", 0x0003 },
	{ "l1_ica", 0x0014 },
	{ "l1_icm", 0x0001 },
	{ "l2_dca", 0x0016 },
	{ "l2_dcm", 0x0017 },
	{ "l2_ica", 0x0027 },
	{ "l2_icm", 0x0028 },
	{ "l3_dca", 0x002b },
	{ "l3_dcm", 0x002a },
	{ "ld_ins", 0x0006 },
	{ "res_stl", 0x0024 },
	{ "sr_ins", 0x0007 },
	{ "tlb_dm", 0x0005 },
	{ "tlb_im", 0x0002 },
	{ "tot_cyc", 0x0011 },
	{ "tot_ins", 0x0008 },
	{ NULL, 0 },
};

static const struct architected none[] = { { NULL, 0 } };

/* Only some parts of Tremont have a third level. */
static const struct {
	const char *pmu;
	const struct architected *list;
} intels[] = {
	{ "ix86arch", intel },
	{ "tmt", intel },
	{ "ehl", intel },
	{ "core", intel_l2 },
	{ "atom", intel_l2 },
	{ "slm", intel_l2 },
	{ "gl[mp]", intel_l2 },
	{ "kn[lm]", intel_l2 },
	{ "*", intel_l3 },
};

static const struct architected *
list_of(const struct event_pmu *ep)
{
	unsigned i = 0;

	switch (ep->ep_kind) {
	case EVENT_AMD:
		return amd;
	case EVENT_ARM:
		return arm;
	case EVENT_INTEL:
		if (ep->ep_family == FAMILY_KNC)
			return none;
		while (fnmatch(intels[i].pmu, ep->ep_name, 0) != 0)
			i++;
		return intels[i].list;
	default:
		return none;
	}
}

struct architected
architected_nth(const struct event_pmu *ep, unsigned n)
{
	return list_of(ep)[n];
}
