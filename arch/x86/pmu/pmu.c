/*
 * Choose the backend for this machine's PMU, and enable its interrupt.
 *
 * Intel SDM vol. 3A, "Interrupt Acceptance for Fixed Interrupts" (IRR).
 */
#include "arch/x86/pmu/pmu.h"

#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/pic.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

/* The worst result of the CPUs so far. */
static enum pmu_found found = PMU_FOUND;

static bool
is_amd(void)
{
	return strcmp(x86_features.vendor, "AuthenticAMD") == 0 ||
	       strcmp(x86_features.vendor, "HygonGenuine") == 0;
}

void
x86_pmu_init_cpu(void)
{
	enum pmu_found cpu_found;

	if (arch_curcpu()->c_id == 0)
		x86_models_read();
	cpu_found = is_amd() ? amd_pcbe_init() : intel_pcbe_init();
	if (cpu_found < found)
		found = cpu_found;
}

/* How the user gets a PMU on this machine. */
static const char *
absent_advice(void)
{
	if (!x86_features.hypervised)
		return "use another machine";
	if (strcmp(x86_features.hypervisor, "TCGTCGTCGTCG") == 0)
		return "run it in the QEMU of scripts/qemu-pmu, or count with "
		       "the arm64 image";
	return "enable its PMU (KVM: -cpu host,pmu=on), or count with the "
	       "arm64 image";
}

static const char *
absent_reason(void)
{
	static char why[200];
	const struct x86_features *f = &x86_features;
	const char *what = found == PMU_NONE ? "CPUID.0AH=0"
	                   : found == PMU_MUTE
	                       ? "its counters do not keep a written value"
	                       : "the CPUs have no counter in common";

	if (f->hypervised)
		snprintf(why, sizeof why, "PMU absent: %s under %s; %s", what,
		    f->hypervisor, absent_advice());
	else
		snprintf(why, sizeof why,
		    "PMU absent: %s on this CPU (%s family %#x); %s", what,
		    f->vendor, f->family, absent_advice());
	return why;
}

static bool
pmi_pending(void)
{
	return (x86_apic_read(APIC_IRR(VEC_PMI)) >> VEC_PMI % 32 & 1) != 0;
}

/* kcpc_pmi() does nothing yet, so the delivery's mask is still set. */
static void
pmi_take(void)
{
	arch_idle();
	arch_pmi_enable();
}

const struct pcbe_ops *
arch_pcbe(const char **why_not)
{
	static const struct pcbe_line line = { pmi_pending, pmi_take, 50000 };
	struct pcbe_ops *ops = is_amd() ? &amd_pcbe_ops : &intel_pcbe_ops;

	if (found != PMU_FOUND || x86_pics.xs_n == 0) {
		*why_not = absent_reason();
		return NULL;
	}
	arch_pmi_enable();
	if (kcpc_prove_overflow(ops, &line, "", false))
		ops->pcbe_caps =
		    CPC_CAP_OVERFLOW_INTERRUPT | CPC_CAP_OVERFLOW_PRECISE;
	else
		ops->pcbe_no_ovf_intr = (1ULL << x86_pics.xs_n) - 1;
	printf("pcbe: overflow interrupt %s\n", ops->pcbe_overflow_proof);
	if (ops->siblings != NULL)
		printf("pcbe: threads of a core share its PICs: no LWP counts "
		       "(EACCES) until all but one are offline, "
		       "p_online(2)\n");
	return ops;
}

void
arch_pmi_enable(void)
{
	pmu_deliver(false);
}
