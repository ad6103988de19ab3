/*
 * AMD's events.  Included by the AMD backend.
 */
#ifndef ARCH_X86_AMD_EVENTS_H
#define ARCH_X86_AMD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* An event of twelve bits, and its unit mask, as an event select has them. */
#define AMD_CODE(event, umask)                                                 \
	(((event)&0xffU) | (uint64_t)((event) >> 8) << 32 | (umask) << 8)
#define AMD_CODE_EVENT(code) ((unsigned)((code)&0xff) | ((code) >> 24 & 0xf00U))

#define AMD_CYCLES       0x076
#define AMD_INSTRUCTIONS 0x0c0

#define AMD_FAMILY_K8  0x0f
#define AMD_FAMILY_15H 0x15
#define AMD_FAMILY_ZEN 0x17

struct amd_event {
	const char *ae_name;
	uint64_t ae_code;
	uint8_t ae_first, ae_last; /* families that have it by this name */
	bool ae_generic;           /* a PAPI_ name */
};
extern const struct amd_event amd_events[];
extern const unsigned amd_nevents;

/* Bit n: core counter n of this family counts the event. */
uint32_t amd_event_pics(unsigned family, uint64_t code);

#endif /* ARCH_X86_AMD_EVENTS_H */
