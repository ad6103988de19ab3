/*
 * Intel's architectural events.  They have the names of Intel's event lists in
 * small letters, or are PAPI's presets of the same meaning, and are sorted by
 * name.  The level of the last cache decides which presets of it exist.
 * Intel SDM vol. 3B, "Pre-defined Architectural Performance Events", and
 * "Fixed-function Performance Counter"; vol. 2A, "CPUID" (leaf 0AH).
 */
#include "events/machine.h"
#include "events/select.h"

#define NO_FIXED (-1)

#define LLC_REFERENCE INTEL_CODE(0x2e, 0x4f)
#define LLC_MISS      INTEL_CODE(0x2e, 0x41)

static const struct intel_event {
	const char *ie_name;
	uint32_t ie_code;
	uint8_t ie_bit;   /* enum intel_arch_event */
	int8_t ie_fixed;  /* the fixed counter that counts it, too, or -1 */
	uint8_t ie_cache; /* only if the last cache has this level; 0: always */
	bool ie_generic;  /* a preset of PAPI */
} intel_events[] = {
	{ "PAPI_br_ins", INTEL_CODE(0xc4, 0), INTEL_BRANCHES, NO_FIXED, 0,
	    true },
	{ "PAPI_br_msp", INTEL_CODE(0xc5, 0), INTEL_BRANCH_MISSES, NO_FIXED, 0,
	    true },
	{ "PAPI_l2_tca", LLC_REFERENCE, INTEL_LLC_REFERENCES, NO_FIXED, 2,
	    true },
	{ "PAPI_l2_tcm", LLC_MISS, INTEL_LLC_MISSES, NO_FIXED, 2, true },
	{ "PAPI_l3_tca", LLC_REFERENCE, INTEL_LLC_REFERENCES, NO_FIXED, 3,
	    true },
	{ "PAPI_l3_tcm", LLC_MISS, INTEL_LLC_MISSES, NO_FIXED, 3, true },
	{ "PAPI_tot_cyc", INTEL_CODE(0x3c, 0), INTEL_CORE_CYCLES, 1, 0, true },
	{ "PAPI_tot_ins", INTEL_CODE(0xc0, 0), INTEL_INSTRUCTIONS_RETIRED, 0, 0,
	    true },
	{ "br_inst_retired.all_branches", INTEL_CODE(0xc4, 0), INTEL_BRANCHES,
	    NO_FIXED, 0, false },
	{ "br_misp_retired.all_branches", INTEL_CODE(0xc5, 0),
	    INTEL_BRANCH_MISSES, NO_FIXED, 0, false },
	{ "cpu_clk_unhalted.core", INTEL_FIXED_CODE(1), INTEL_FIXED_ALONE, 1, 0,
	    false },
	{ "cpu_clk_unhalted.ref", INTEL_FIXED_CODE(2), INTEL_FIXED_ALONE, 2, 0,
	    false },
	{ "cpu_clk_unhalted.ref_p", INTEL_CODE(0x3c, 1), INTEL_REF_CYCLES,
	    NO_FIXED, 0, false },
	{ "cpu_clk_unhalted.thread", INTEL_FIXED_CODE(1), INTEL_FIXED_ALONE, 1,
	    0, false },
	{ "cpu_clk_unhalted.thread_p", INTEL_CODE(0x3c, 0), INTEL_CORE_CYCLES,
	    NO_FIXED, 0, false },
	{ "inst_retired.any_p", INTEL_CODE(0xc0, 0), INTEL_INSTRUCTIONS_RETIRED,
	    NO_FIXED, 0, false },
	{ "instr_retired.any", INTEL_FIXED_CODE(0), INTEL_FIXED_ALONE, 0, 0,
	    false },
	{ "lbr_inserts.any", INTEL_CODE(0xe4, 1), INTEL_LBR_INSERTS, NO_FIXED,
	    0, false },
	{ "longest_lat_cache.miss", LLC_MISS, INTEL_LLC_MISSES, NO_FIXED, 0,
	    false },
	{ "longest_lat_cache.reference", LLC_REFERENCE, INTEL_LLC_REFERENCES,
	    NO_FIXED, 0, false },
	{ "topdown.backend_bound", INTEL_CODE(0xa4, 2), INTEL_BACKEND_BOUND,
	    NO_FIXED, 0, false },
	{ "topdown.bad_speculation", INTEL_CODE(0x73, 0), INTEL_BAD_SPECULATION,
	    NO_FIXED, 0, false },
	{ "topdown.frontend_bound", INTEL_CODE(0x9c, 1), INTEL_FRONTEND_BOUND,
	    NO_FIXED, 0, false },
	{ "topdown.retiring", INTEL_CODE(0xc2, 2), INTEL_RETIRING, NO_FIXED, 0,
	    false },
	{ "topdown.slots", INTEL_FIXED_CODE(3), INTEL_FIXED_ALONE, 3, 0,
	    false },
	{ "topdown.slots_p", INTEL_CODE(0xa4, 1), INTEL_SLOTS, NO_FIXED, 0,
	    false },
};

/* Event and unit masks of a select: what makes it an architectural event. */
#define EVENT_ALONE (SEL_EVENT | SEL_UMASK | SEL_UMASK2)

/* Do the general PICs lack the event?  A bind fails with the reason. */
static bool
is_lacking(const struct cpc_pmu *pm, uint64_t code)
{
	int bit = intel_arch_bit(code & EVENT_ALONE);

	return (bit >= 0 && (pm->pm_absent >> bit & 1) != 0) ||
	       machine_unmodelled(pm, code);
}

static uint64_t
own(const struct cpc_pmu *pm, unsigned n, struct cpc_event *ce)
{
	const struct intel_event *e = &intel_events[n];
	bool general = (e->ie_code & INTEL_FIXED_CODE(0)) == 0;
	uint64_t has = pm->pm_events[0] | pm->pm_absent, pics = 0;

	if (e->ie_cache != 0 && e->ie_cache != pm->pm_cache)
		return 0;
	general = general && (has >> e->ie_bit & 1) != 0;
	if (general && !is_lacking(pm, e->ie_code))
		pics = pm->pm_general;
	if (e->ie_fixed != NO_FIXED)
		pics |= pm->pm_own[e->ie_fixed];
	ce->ce_code = e->ie_code;
	ce->ce_flags = e->ie_generic ? CPC_EVENT_GENERIC : 0;
	/* A bind then fails with the kernel's reason. */
	if (pics == 0 && general) {
		ce->ce_flags |= CPC_EVENT_LACKING;
		pics = pm->pm_general;
	}
	return pics;
}

static uint64_t
number(const struct cpc_pmu *pm, uint64_t num, struct cpc_event *ce)
{
	ce->ce_code = num <= INTEL_RAW_MAX ? num : EVENT_CODE_TOO_HIGH;
	return pm->pm_general;
}

/*
 * A fixed PIC counts one architectural event, and has no modifiers of the event
 * select.  With modifiers, that event needs a general PIC.
 */
static uint64_t
tabled(
    const struct cpc_pmu *pm, const struct event_code *ec, struct cpc_event *ce)
{
	uint64_t pics = ec->ec_pics & pm->pm_general, fixed_pics = 0;
	uint32_t fixed = (uint32_t)(ec->ec_pics >> 32);
	uint64_t code = event_select_only(ec);

	ce->ce_code = code;
	if ((ce->ce_code & pm->pm_lacking) != 0 ||
	    (ec->ec_extra != EXTRA_NONE &&
		(pm->pm_extras >> ec->ec_extra & 1) == 0))
		ce->ce_flags |= CPC_EVENT_LACKING;
	if (pics == 0 && intel_arch_bit(code & EVENT_ALONE) >= 0)
		pics = code > 0xffff ? pm->pm_general : 0;
	for (unsigned n = 0; n < INTEL_NFIXED; n++) {
		if ((fixed >> n & 1) == 0 || !intel_fixed_tabled(n, code))
			continue;
		fixed_pics |= pm->pm_own[n];
		if (pics == 0)
			ce->ce_code = INTEL_FIXED_CODE(n);
	}
	if (pics != 0 && is_lacking(pm, ce->ce_code)) {
		if (fixed_pics != 0)
			return fixed_pics;
		ce->ce_flags |= CPC_EVENT_LACKING;
	}
	return pics | fixed_pics;
}

const struct machine_kind machine_intel = {
	.mk_first = intel_events,
	.mk_n = sizeof intel_events / sizeof intel_events[0],
	.mk_bytes = sizeof intel_events[0],
	.mk_kind = EVENT_INTEL,
	.mk_own = own,
	.mk_number = number,
	.mk_tabled = tabled,
};
