/*
 * The PMU of x86: what its files tell each other.  Included by arch/x86/ and
 * tests/host.
 */
#ifndef ARCH_X86_PMU_PMU_H
#define ARCH_X86_PMU_PMU_H

#include <stdbool.h>
#include <stddef.h>

#include "kern/cpc/pcbe.h"

/* What a backend finds on a CPU. */
enum pmu_found {
	PMU_NONE,  /* CPUID tells of none */
	PMU_MUTE,  /* its registers do not keep what is written */
	PMU_FOUND, /* learned and silenced */
};

/*
 * Look for this CPU's PMU.  Once per CPU, interrupts off, the boot CPU first;
 * what is offered is what all CPUs have.  Survives the absence of any
 * register.
 */
enum pmu_found intel_pcbe_init(void);
enum pmu_found amd_pcbe_init(void);
extern struct pcbe_ops intel_pcbe_ops, amd_pcbe_ops;

/* pmu.c: the same by whichever backend is this machine's. */
void x86_pmu_init_cpu(void);

/*
 * pmu_prove.c.  Count a loop of known length on a PIC, by event: exactly, if
 * the event counts instructions, or else see it advance.  NULL or what was
 * wrong.
 */
const char *x86_prove(const struct pcbe_ops *ops, unsigned pic,
    const struct pcbe_event *ev, bool exact);
/*
 * Does the overflow of PIC 0 raise its interrupt?  `pending` tells whether it
 * waits; the APIC lets it through.
 */
bool x86_prove_overflow(const struct pcbe_ops *ops, bool (*pending)(void));

#endif /* ARCH_X86_PMU_PMU_H */
