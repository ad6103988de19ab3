/*
 * Turn attributes and privilege levels into bits of the event select.
 *
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 1" and
 * Version 3; AMD APM vol. 2 (24593), "Performance Event-Select Registers".
 */
#include "arch/x86/pmu/pmu.h"

#include "arch/x86/pmu/regs.h"

#define BYTE_MAX 0xff

/* Any value but 0 sets the bit. */
static void
set_bit(uint64_t *sel, uint64_t bit, uint64_t value)
{
	if (value != 0)
		*sel |= bit;
}

static int
set_byte(uint64_t *sel, uint64_t mask, uint64_t value)
{
	if (value > BYTE_MAX)
		return CPC_ATTRIBUTE_OUT_OF_RANGE;
	*sel = (*sel & ~mask) | (mask & -mask) * value;
	return 0;
}

static int
add_attr(uint64_t *sel, uint32_t attr, uint64_t value, bool privileged)
{
	switch (attr) {
	case CPC_ATTR_EDGE:
		set_bit(sel, EVTSEL_EDGE, value);
		return 0;
	case CPC_ATTR_PC:
		set_bit(sel, EVTSEL_PC, value);
		return 0;
	case CPC_ATTR_INV:
		set_bit(sel, EVTSEL_INV, value);
		return 0;
	case CPC_ATTR_UMASK:
		return set_byte(sel, EVTSEL_UMASK_MASK, value);
	case CPC_ATTR_CMASK:
		return set_byte(sel, EVTSEL_CMASK_MASK, value);
	case CPC_ATTR_ANYTHR:
		/* It would count another thread's work. */
		if (!privileged)
			return CPC_ATTR_REQUIRES_PRIVILEGE;
		set_bit(sel, EVTSEL_ANY, value);
		return 0;
	case CPC_ATTR_MSR_OFFCORE:
	case CPC_ATTR_MSR_LDLAT:
	case CPC_ATTR_MSR_FRONTEND:
		return 0;
	default:
		return CPC_INVALID_ATTRIBUTE;
	}
}

int
evtsel_add_attrs(uint64_t *sel, uint32_t mask, unsigned nattrs,
    const struct cpc_packattr *attrs, bool privileged)
{
	int subcode;

	for (unsigned i = 0; i < nattrs; i++) {
		if (attrs[i].cpa_id >= CPC_ATTR_IDS ||
		    (mask >> attrs[i].cpa_id & 1) == 0)
			return CPC_INVALID_ATTRIBUTE;
		subcode = add_attr(
		    sel, attrs[i].cpa_id, attrs[i].cpa_value, privileged);
		if (subcode != 0)
			return subcode;
	}
	return 0;
}

uint64_t
evtsel_control(unsigned flags)
{
	uint64_t sel = EVTSEL_EN | EVTSEL_INT;

	if ((flags & CPC_COUNT_USER) != 0)
		sel |= EVTSEL_USR;
	if ((flags & CPC_COUNT_SYSTEM) != 0)
		sel |= EVTSEL_OS;
	return sel;
}
