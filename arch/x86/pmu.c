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

static unsigned
intel_version(void)
{
	return FIELD(cpuid(0xa, 0).a, 7, 0);
}

static bool
amd_counters(void)
{
	return FIELD(cpuid(0x80000001, 0).c, CPUID_PERFCTR_CORE,
		   CPUID_PERFCTR_CORE) != 0;
}

/*
 * CPUID alone is believed here: MSRs answer, and mean nothing, on emulators
 * without a PMU.
 */
const struct pcbe_ops *
arch_pcbe(const char **why_not)
{
	static char why[160];
	bool amd = strcmp(x86_features.vendor, "AuthenticAMD") == 0;

	if (amd && amd_counters())
		snprintf(why, sizeof why,
		    "PMU of AMD's core counters found, and this version has "
		    "no backend for it; count on arm64");
	else if (!amd && intel_version() != 0)
		snprintf(why, sizeof why,
		    "PMU version %u (CPUID.0AH) found, and this version has "
		    "no backend for it; count on arm64",
		    intel_version());
	else
		snprintf(why, sizeof why, "PMU absent: %s%s%s%s",
		    amd ? "CPUID.80000001H has no core counters"
			: "CPUID.0AH is 0",
		    x86_features.hypervised ? " under hypervisor " : "",
		    x86_features.hypervisor,
		    x86_features.hypervised
			? "; give the guest one (KVM: -cpu host,pmu=on) or "
			  "count on arm64"
			: "; this CPU cannot count");
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
