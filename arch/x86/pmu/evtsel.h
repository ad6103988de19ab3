/*
 * The part of the event select that Intel and AMD share: privilege levels and
 * attributes.  Included by the backends of arch/x86/pmu/.
 */
#ifndef ARCH_X86_PMU_EVTSEL_H
#define ARCH_X86_PMU_EVTSEL_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/cpc/pcbe.h"

/* Does the attribute set an extra MSR, not a part of the event select? */
static inline bool
evtsel_attr_is_extra(uint32_t attr)
{
	return attr >= CPC_ATTR_MSR_OFFCORE && attr <= CPC_ATTR_MSR_FRONTEND;
}

/*
 * Add the attributes to an event select.  Bit n of `mask` allows attribute n.
 * An attribute `umask` replaces the unit mask of the event.  Returns 0 or a
 * CPC_* subcode.
 */
int evtsel_add_attrs(uint64_t *sel, uint32_t mask, unsigned nattrs,
    const struct cpc_packattr *attrs, bool privileged);
/*
 * The bits to enable a PIC, to interrupt at its overflow, and to count at the
 * privilege levels of `flags` (CPC_COUNT_*).  CPC_COUNT_HV has no bit: a
 * hypervisor does not count on our PICs.
 */
uint64_t evtsel_control(unsigned flags);

#endif /* ARCH_X86_PMU_EVTSEL_H */
