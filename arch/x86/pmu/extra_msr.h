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

/*
 * Find out which extra MSRs this CPU has.  The kernel uses those that all CPUs
 * have.
 */
void x86_extra_msr_probe(void);
bool x86_extra_msr_exists(enum event_extra extra);
/*
 * For configure(): a request needs this value in an extra MSR.  Returns 0, or a
 * subcode:
 * - CPC_RESOURCE_UNAVAIL: the CPU lacks the register.
 * - CPC_CONFLICTING_REQS: another request of the set needs another value.
 * - CPC_ATTRIBUTE_OUT_OF_RANGE: the register does not take the value.
 */
int x86_extra_msr_take(
    struct pcbe_set *set, enum event_extra extra, uint64_t value);

/* For program(): write the extra MSRs of the set. */
void x86_extra_msr_load(const struct pcbe_set *set);

#endif /* ARCH_X86_PMU_EXTRA_MSR_H */
