/*
 * The events that an emulated PMU models, as its emulator lists them.
 * Included by the backends of arch/x86/ and by describe.c.
 */
#ifndef ARCH_X86_PMU_MODELS_H
#define ARCH_X86_PMU_MODELS_H

#include <stdint.h>

#include "include/sys/cpc.h"

/*
 * Read the emulator's list, once, on the boot CPU; docs/x86.md has the CPUID
 * leaves.  Without a list every event is taken for modelled.
 */
void x86_models_read(void);

/* The list, for the library. */
void x86_models_describe(struct cpc_pmu *pm);

/*
 * NULL if the PMU models the event select, or there is no list; else why not,
 * in static storage: part of a line for kcpc_reason().
 */
const char *x86_models_lack(uint64_t select);

/*
 * For records.  "listed": the emulator lists what it models, and nothing else
 * is counted.  "unknown": a hypervisor without a list; its PMU may be another
 * emulator's.  "all": no hypervisor.
 */
const char *x86_models_name(void);

#endif /* ARCH_X86_PMU_MODELS_H */
