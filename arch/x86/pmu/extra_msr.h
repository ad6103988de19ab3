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
 * At boot: find the bits that each extra MSR of this CPU takes.  They stay 0
 * for a register that the CPU lacks.  Later, other sets count by these
 * registers, and a set may be for another CPU: so configure() writes none of
 * them.
 */
void x86_extra_msr_probe(uint64_t takes[EXTRA_N]);
/*
 * For configure(): a request needs this value in an extra MSR.  `takes` has the
 * bits that the registers take.  Returns 0, or a subcode:
 * - CPC_RESOURCE_UNAVAIL: the CPU lacks the register.
 * - CPC_CONFLICTING_REQS: another request of the set needs another value.
 * - CPC_ATTRIBUTE_OUT_OF_RANGE: the register does not take the value.
 */
int x86_extra_msr_take(struct pcbe_set *set, const uint64_t takes[EXTRA_N],
    enum event_extra extra, uint64_t value, struct cpc_refusal *rf);

/* For program(): write the extra MSRs of the set. */
void x86_extra_msr_load(const struct pcbe_set *set);

#endif /* ARCH_X86_PMU_EXTRA_MSR_H */
