/*
 * Version 1: the words ce_pes of an event.
 *
 * On x86 a word is the low half of an event select.  On arm64 it has the
 * event's number in bits 15:0, on the software PMU the event's code.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 1" and
 * Version 3; AMD APM vol. 2 (24593), "Performance Event-Select Registers".
 */
#include "cpc/v1/v1.h"

static const struct layout {
	uint32_t ly_code;   /* the bits of the event's code */
	uint32_t ly_number; /* those of an event that is named by a number */
	uint32_t ly_set;    /* set in every word */
} layouts[] = {
	[CPC_PMU_INTEL] = { 0xffa4ffff, 0xff, 1U << 22 },
	[CPC_PMU_AMD] = { 0xff84ffff, 0xff, 1U << 22 },
	[CPC_PMU_ARM] = { 0xffff, 0xffff, 0 },
	[CPC_PMU_SOFTWARE] = { 0xffff, 0xff, 0 },
};

uint64_t
cpci_v1_code(unsigned kind, uint32_t word)
{
	return word & layouts[kind].ly_code;
}

uint32_t
cpci_v1_number_bits(unsigned kind)
{
	return layouts[kind].ly_number;
}

unsigned
cpci_v1_flags(uint32_t word)
{
	return ((word & V1_USR) != 0 ? CPC_COUNT_USER : 0) |
	       ((word & V1_OS) != 0 ? CPC_COUNT_SYSTEM : 0);
}

uint32_t
cpci_v1_word_of(unsigned kind, uint64_t code, unsigned flags)
{
	return (uint32_t)code | layouts[kind].ly_set |
	       ((flags & CPC_COUNT_USER) != 0 ? V1_USR : 0) |
	       ((flags & CPC_COUNT_SYSTEM) != 0 ? V1_OS : 0);
}

bool
cpci_v1_word(unsigned kind, unsigned pic, const struct cpc_event *ce,
    uint32_t levels, uint32_t *word)
{
	unsigned flags = cpci_v1_flags(levels);

	if ((ce->ce_pics >> pic & 1) == 0 ||
	    ce->ce_code != cpci_v1_code(kind, (uint32_t)ce->ce_code) ||
	    ce->ce_flags >> CPC_EVENT_EXTRA_SHIFT != 0)
		return false;
	if ((ce->ce_flags & CPC_EVENT_LEVELS) != 0)
		flags = ce->ce_flags >> CPC_EVENT_LEVEL_SHIFT;
	*word = cpci_v1_word_of(kind, ce->ce_code, flags);
	return true;
}
