/*
 * The event select as Intel and AMD have it in common: privilege levels, and
 * the attributes a request may have.  Included by the backends of arch/x86/.
 */
#ifndef ARCH_X86_PMU_EVTSEL_H
#define ARCH_X86_PMU_EVTSEL_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/cpc/pcbe.h"

/* Is it for one of the registers of extra.h, not for the event select? */
static inline bool
evtsel_attr_is_beside(uint32_t attr)
{
	return attr >= CPC_ATTR_MSR_OFFCORE && attr <= CPC_ATTR_MSR_FRONTEND;
}

/*
 * Add attributes, of those in the mask, to an event select; a umask replaces
 * the one that is there.  Returns 0 or a CPC_* subcode.
 */
int evtsel_add_attrs(uint64_t *sel, uint32_t mask, unsigned nattrs,
    const struct pcbe_attr *attrs, bool privileged);
/*
 * Enable, interrupt at overflow, and the privilege levels of CPC_COUNT_*.
 * CPC_COUNT_HV means nothing: what is below us counts by itself.
 */
uint64_t evtsel_control(unsigned flags);

#endif /* ARCH_X86_PMU_EVTSEL_H */
