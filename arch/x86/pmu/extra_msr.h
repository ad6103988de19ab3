/*
 * Extra MSRs: registers that some Intel events need in addition to the event
 * select. All PICs of a CPU share each of them.  Included by the Intel backend
 * and by selection.c.
 */
#ifndef ARCH_X86_PMU_EXTRA_MSR_H
#define ARCH_X86_PMU_EXTRA_MSR_H

#include <stdbool.h>
#include <stdint.h>

#include "events/pmu.h"
#include "kern/cpc/pcbe.h"

/* The extra MSRs that this CPU has: bit n is number n of enum event_extra. */
unsigned x86_extra_msr_probe(void);
/*
 * For configure(): a request needs this value in an extra MSR.  `exist` has the
 * MSRs that exist.  Returns 0, or a subcode:
 * - CPC_RESOURCE_UNAVAIL: the CPU lacks the register.
 * - CPC_CONFLICTING_REQS: another request of the set needs another value.
 * - CPC_ATTRIBUTE_OUT_OF_RANGE: the register does not take the value.
 */
int x86_extra_msr_take(struct pcbe_set *set, unsigned exist,
    enum event_extra extra, uint64_t value);

/* For program(): write the extra MSRs of the set. */
void x86_extra_msr_load(const struct pcbe_set *set);

#endif /* ARCH_X86_PMU_EXTRA_MSR_H */
