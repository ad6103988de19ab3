/*
 * The list of events that an emulator models.
 *
 * An emulator's counter accepts any event.  It stays 0 if the emulator does
 * not model the event, and that 0 looks like a count.  So the QEMU of
 * scripts/qemu-pmu lists its events in CPUID leaves of its own.  In a guest
 * that is nested in it, the command line has the list.  docs/x86.md, "Events an
 * emulator models".
 */
#include "arch/x86/pmu/pmu.h"

#include <stdbool.h>
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/pmu/regs.h"
#include "kern/cpc/pcbe.h"
#include "lib/string.h"

#define LEAF_RANGE 0x40000100
#define LEAF_EVENT 0x40000101

/* "TCGPMUEvents" in EBX, ECX, EDX */
#define SIGNATURE_B 0x50474354
#define SIGNATURE_C 0x7645554d
#define SIGNATURE_D 0x73746e65

static struct cpc_model models[CPC_PMU_MODELS];
static unsigned nmodels;
static bool listed;

void
x86_models_read(void)
{
	struct cpuid_regs r = cpuid(LEAF_RANGE, 0);

	nmodels = 0;
	listed = r.a >= LEAF_EVENT && r.a < LEAF_RANGE + 0x100 &&
	         r.b == SIGNATURE_B && r.c == SIGNATURE_C && r.d == SIGNATURE_D;
	while (listed && nmodels < CPC_PMU_MODELS) {
		r = cpuid(LEAF_EVENT, nmodels);
		if ((r.d & 1) == 0)
			break;
		models[nmodels++] = (struct cpc_model){ r.a, r.b, r.c };
	}
	if (!listed && pcbe_nmodels != 0) {
		listed = true;
		nmodels = pcbe_nmodels;
		memcpy(models, pcbe_models, nmodels * sizeof models[0]);
	}
}

void
x86_models_describe(struct cpc_pmu *pm)
{
	pm->pm_listed = listed;
	pm->pm_nmodels = nmodels;
	memcpy(pm->pm_models, models, sizeof models);
}

static int
not_modelled(uint64_t select, const struct cpc_model *m, struct cpc_refusal *rf)
{
	if (m == NULL)
		return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
		    "this emulator does not model event %#llx",
		    (unsigned long long)select &
			(EVTSEL_EVENT_12 | EVTSEL_UMASK_MASK));
	return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
	    "this emulator does not model bits %#llx of the event select with "
	    "event %#x",
	    (unsigned long long)select &
		~(uint64_t)(m->ml_match_mask | m->ml_modelled_mask),
	    (unsigned)m->ml_select);
}

/* Every request of a bind calls this, so it avoids a stack frame. */
int
x86_models_check(uint64_t select, struct cpc_refusal *rf)
{
	if (!listed)
		return 0;
	for (const struct cpc_model *m = models; m < models + nmodels; m++) {
		if ((select & m->ml_match_mask) != m->ml_select)
			continue;
		if ((select & ~(uint64_t)(m->ml_match_mask |
					  m->ml_modelled_mask)) == 0)
			return 0;
		/* Upper bits of AMD's event make it another one. */
		return not_modelled(select,
		    (select & EVTSEL_EVENT_12) >> 32 == 0 ? m : NULL, rf);
	}
	return not_modelled(select, NULL, rf);
}

const char *
x86_models_name(void)
{
	return listed ? "listed" : x86_features.hypervised ? "unknown" : "all";
}
