/*
 * Which backend drives this machine's PMU, and the interrupt of its PICs.
 */
#include <stddef.h>

#include "arch/x86/apic.h"
#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "lib/printf.h"
#include "lib/string.h"

/* CPUID.80000001H:ECX: core performance counters.  AMD APM vol. 3. */
#define CPUID_PERFCTR_CORE 23

/* What CPUID says there is, or NULL. */
static const char *
pmu_found(void)
{
	if (strcmp(x86_features.vendor, "AuthenticAMD") == 0 &&
	    FIELD(cpuid(0x80000001, 0).c, CPUID_PERFCTR_CORE,
		CPUID_PERFCTR_CORE) != 0)
		return "AMD core counters (CPUID.80000001H)";
	if (FIELD(cpuid(0xa, 0).a, 7, 0) != 0)
		return "an architectural PMU (CPUID.0AH)";
	return NULL;
}

/*
 * Only CPUID is believed: where there is no PMU, MSRs of one may still take
 * what is written and read 0.
 */
const struct pcbe_ops *
arch_pcbe(const char **why_not)
{
	static char why[160];
	const struct x86_features *f = &x86_features;
	const char *found = pmu_found();

	if (found != NULL)
		snprintf(why, sizeof why,
		    "%s, for which this version has no backend; count with "
		    "the arm64 image",
		    found);
	else if (f->hypervised)
		snprintf(why, sizeof why,
		    "PMU absent: CPUID.0AH=0 under %s; ask it for one (KVM: "
		    "-cpu host,pmu=on), or count with the arm64 image",
		    f->hypervisor);
	else
		snprintf(why, sizeof why,
		    "PMU absent: CPUID.0AH=0 on this CPU (%s family %#x); use "
		    "another machine",
		    f->vendor, f->family);
	*why_not = why;
	return NULL;
}

void
arch_pmi_enable(void)
{
	x86_apic_write(APIC_LVT_PMI, VEC_PMI);
}

/*
 * Delivering the interrupt masks its LVT entry.  Intel SDM vol. 3B,
 * "Generating an Interrupt on Overflow".
 */
void
arch_pmi_rearm(void)
{
	x86_apic_write(APIC_LVT_PMI, VEC_PMI);
}
