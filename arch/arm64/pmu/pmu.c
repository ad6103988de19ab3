/*
 * Finds this machine's PMU and its interrupt, and offers them to kcpc.
 * Arm ARM (DDI 0487), "ISR_EL1", "MIDR_EL1".
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/dev/gic.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "lib/printf.h"
#include "lib/string.h"

#define ISR_I (1 << 7) /* ISR_EL1: an interrupt is pending */

/*
 * The events of QEMU without a list.  It also announces the STALL events, which
 * the architecture requires, and never counts them.
 */
static const uint64_t qemu_counts[2] = { 1U << ARM_SW_INCR |
					     1U << ARM_INST_RETIRED |
					     1U << ARM_CPU_CYCLES |
					     1U << ARM_INST_SPEC,
	0 };

static const uint64_t *
counted_events(void)
{
	if (pcbe_any_event)
		return NULL;
	if (machine.m_lists_events)
		return machine.m_events;
	if (pcbe_announced_only || strcmp(machine.m_vmm, "tcg") == 0)
		return qemu_counts;
	return NULL;
}

void
pmuv3_cpu_init(void)
{
	pmuv3_counts = counted_events();
	pmuv3_pcbe_init(arm64_boot_el == 2, read_sysreg(midr_el1));
}

static bool
irq_pending(void)
{
	isb();
	return (read_sysreg(isr_el1) & ISR_I) != 0;
}

static const char *
why_none(void)
{
	if (pmuv3.pv_trapped)
		return "PMU absent: trapped: hypervisor or firmware keeps its "
		       "registers: ask it for a vPMU";
	if (pmuv3.pv_widths_differ)
		return "PMU absent: CPUs differ in the width of their "
		       "counters; give the machine CPUs of one kind";
	if (pmuv3.pv_version != 0)
		return "PMU without event counters: PMCR_EL0.N=0; the "
		       "hypervisor keeps them: ask it for a vPMU";
	if (strcmp(machine.m_vmm, "none") != 0)
		return "PMU absent: ID_AA64DFR0_EL1.PMUVer says none; start "
		       "QEMU without pmu=off in -cpu";
	return "PMU absent: ID_AA64DFR0_EL1.PMUVer says this CPU has no PMUv3";
}

const struct pcbe_ops *
arch_pcbe(const char **why_not)
{
	if (pmuv3.pv_nevent == 0) {
		*why_not = why_none();
		return NULL;
	}
	pmuv3_pcbe_overflow(PMUV3_NO_INTR);
	pmuv3_pcbe_ops.pcbe_overflow_proof = "does not come";
	if (arm64_curcpu()->ac_pmu_intid != 0) {
		gic_enable(arm64_curcpu()->ac_pmu_intid);
		pmuv3_prove_overflow(
		    irq_pending, strcmp(machine.m_vmm, "tcg") == 0);
	}
	/*
	 * KVM traps every access to the PMU, so a direct read saves nothing.
	 * Before Linux 6.5 it also fails at times, because perf overwrites
	 * PMUSERENR_EL0 while a guest runs.  The guest then sees an undefined
	 * instruction.  Linux, "KVM: arm64: PMU: Don't overwrite PMUSERENR with
	 * vcpu loaded".
	 */
	pmuv3_pcbe_ops.pcbe_no_user_read = strcmp(machine.m_vmm, "kvm") == 0;
	printf("pcbe: proof: %s; overflow interrupt %s\n", pmuv3_proof(),
	    pmuv3_pcbe_ops.pcbe_overflow_proof);
	return &pmuv3_pcbe_ops;
}

void
arch_pmi_enable(void)
{
	gic_enable(arm64_curcpu()->ac_pmu_intid);
}
