/*
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 1" and
 * Version 3; AMD APM vol. 2 (24593), "Performance Event-Select Registers".
 */
#include "arch/x86/evtsel.h"

#include <stddef.h>

#include "arch/x86/pmu_regs.h"

#define BYTE_MAX 0xff

static const char *const names[] = {
	[ATTR_EDGE] = "edge",
	[ATTR_PC] = "pc",
	[ATTR_INV] = "inv",
	[ATTR_UMASK] = "umask",
	[ATTR_CMASK] = "cmask",
	[ATTR_ANYTHR] = "anythr",
	[ATTR_MSR_OFFCORE] = "msr_offcore",
	[ATTR_MSR_LDLAT] = "msr_ldlat",
	[ATTR_MSR_FRONTEND] = "msr_frontend",
};

static unsigned
list_len(const uint8_t *list)
{
	unsigned n = 0;

	while (list[n] != ATTR_END)
		n++;
	return n;
}

const char *
evtsel_attr_name(const uint8_t *list, unsigned n)
{
	return n < list_len(list) ? names[list[n]] : NULL;
}

/* A bit that any value but 0 sets. */
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
add_attr(uint64_t *sel, enum evtsel_attr attr, uint64_t value, bool privileged)
{
	switch (attr) {
	case ATTR_EDGE:
		set_bit(sel, EVTSEL_EDGE, value);
		return 0;
	case ATTR_PC:
		set_bit(sel, EVTSEL_PC, value);
		return 0;
	case ATTR_INV:
		set_bit(sel, EVTSEL_INV, value);
		return 0;
	case ATTR_UMASK:
		return set_byte(sel, EVTSEL_UMASK_MASK, value);
	case ATTR_CMASK:
		return set_byte(sel, EVTSEL_CMASK_MASK, value);
	case ATTR_ANYTHR:
		/* It tells of another thread: even asking needs leave. */
		if (!privileged)
			return CPC_ATTR_REQUIRES_PRIVILEGE;
		set_bit(sel, EVTSEL_ANY, value);
		return 0;
	case ATTR_MSR_OFFCORE:
	case ATTR_MSR_LDLAT:
	case ATTR_MSR_FRONTEND:
		return 0;
	default:
		return CPC_INVALID_ATTRIBUTE;
	}
}

int
evtsel_add_attrs(uint64_t *sel, const uint8_t *list, unsigned nattrs,
    const struct pcbe_attr *attrs, bool privileged)
{
	unsigned i;
	int subcode;

	for (i = 0; i < nattrs; i++) {
		if (evtsel_attr_name(list, attrs[i].pa_id) == NULL)
			return CPC_INVALID_ATTRIBUTE;
		subcode = add_attr(
		    sel, list[attrs[i].pa_id], attrs[i].pa_val, privileged);
		if (subcode != 0)
			return subcode;
	}
	return 0;
}

uint64_t
evtsel_of(const struct event_code *ec)
{
	return ec->ec_select &
	       ~(EVTSEL_EN | EVTSEL_INT | EVTSEL_USR | EVTSEL_OS);
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
