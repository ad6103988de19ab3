/*
 * The PMU of x86: finding a backend and proving its PICs.  Included by
 * arch/x86/ and tests/host.
 */
#ifndef ARCH_X86_PMU_PMU_H
#define ARCH_X86_PMU_PMU_H

#include <stdbool.h>
#include <stddef.h>

#include "kern/cpc/pcbe.h"

/* The result of a backend's search on a CPU. */
enum pmu_found {
	PMU_NONE,  /* CPUID reports no PMU */
	PMU_MUTE,  /* its registers do not keep a written value */
	PMU_FOUND, /* its shape is known, and its PICs are stopped */
};

/*
 * Look for this CPU's PMU.  Call once on each CPU, the boot CPU first, with
 * interrupts off.  The kernel offers the PICs and events that all CPUs have.
 * Any register may be missing.
 */
enum pmu_found intel_pcbe_init(void);
enum pmu_found amd_pcbe_init(void);
extern struct pcbe_ops intel_pcbe_ops, amd_pcbe_ops;

/* pmu.c: the same, with the backend of this machine's vendor. */
void x86_pmu_init_cpu(void);

#endif /* ARCH_X86_PMU_PMU_H */
