/*
 * Registers beside the event select that some of Intel's events need: each is
 * one for all PICs of a CPU.  Included by the Intel backend and by pic.c.
 */
#ifndef ARCH_X86_PMU_EXTRA_MSR_H
#define ARCH_X86_PMU_EXTRA_MSR_H

#include <stdbool.h>
#include <stdint.h>

#include "events/pmu.h"
#include "kern/cpc/pcbe.h"

/* Find out which of them this CPU has; those all CPUs have are used. */
void x86_extra_msr_probe(void);
bool x86_extra_msr_exists(enum event_extra extra);
/*
 * The part of configure() for a request that wants this value in one.  0;
 * CPC_RESOURCE_UNAVAIL without the register, CPC_CONFLICTING_REQS where
 * another request of the set wants another value, or
 * CPC_ATTRIBUTE_OUT_OF_RANGE where the register does not take it.
 */
int x86_extra_msr_take(
    struct pcbe_set *set, enum event_extra extra, uint64_t value);

/* The part of program(). */
void x86_extra_msr_load(const struct pcbe_set *set);

#endif /* ARCH_X86_PMU_EXTRA_MSR_H */
