/*
 * The events that an emulated PMU models, as its emulator lists them.
 * Included by the backends of arch/x86/ and by describe.c.
 */
#ifndef ARCH_X86_PMU_MODELS_H
#define ARCH_X86_PMU_MODELS_H

#include <stdint.h>

#include "include/sys/cpc.h"

/*
 * Read the emulator's list: from CPUID leaves (docs/x86.md), else from the
 * command line.  Call once, on the boot CPU.  Without a list, every event
 * counts as modelled.
 */
void x86_models_read(void);

/* Give the list to the library. */
void x86_models_describe(struct cpc_pmu *pm);

/*
 * For configure(): does the PMU model the event select?  0, if there is no
 * list, too, or CPC_RESOURCE_UNAVAIL, with the reason in rf.
 */
int x86_models_check(uint64_t select, struct cpc_refusal *rf);

/*
 * The word for records.  "listed" means that the emulator lists its events, and
 * that the kernel counts no other.  "unknown" means a hypervisor without a
 * list: its PMU may be an emulator's.  "all" means no hypervisor.
 */
const char *x86_models_name(void);

#endif /* ARCH_X86_PMU_MODELS_H */
