/*
 * The event select as Intel and AMD have it in common: privilege levels, and
 * the attributes a request may have.  Included by the backends of arch/x86/.
 */
#ifndef ARCH_X86_EVTSEL_H
#define ARCH_X86_EVTSEL_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/pcbe.h"

enum evtsel_attr {
	ATTR_EDGE,
	ATTR_PC,
	ATTR_INV,
	ATTR_UMASK,
	ATTR_CMASK,
	ATTR_ANYTHR,
	/* Not of the event select, but of the registers of extra.h. */
	ATTR_MSR_OFFCORE,
	ATTR_MSR_LDLAT,
	ATTR_MSR_FRONTEND,
	ATTR_END, /* of a list */
};

static inline bool
evtsel_attr_is_beside(enum evtsel_attr attr)
{
	return attr >= ATTR_MSR_OFFCORE && attr < ATTR_END;
}

/* The name of the nth of a list, or NULL past its end. */
const char *evtsel_attr_name(const uint8_t *list, unsigned n);
/*
 * Add attributes, numbered by their place in `list`, to an event select; a
 * umask replaces the one that is there.  Returns 0 or a CPC_* subcode.
 */
int evtsel_add_attrs(uint64_t *sel, const uint8_t *list, unsigned nattrs,
    const struct pcbe_attr *attrs, bool privileged);
/* What a name of the tables says of the event select: no enable, no levels. */
uint64_t evtsel_of(const struct event_code *ec);
/*
 * Enable, interrupt at overflow, and the privilege levels of CPC_COUNT_*.
 * CPC_COUNT_HV means nothing: what is below us counts by itself.
 */
uint64_t evtsel_control(unsigned flags);

#endif /* ARCH_X86_EVTSEL_H */
