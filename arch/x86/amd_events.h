/*
 * AMD's events.  Included by the AMD backend.
 */
#ifndef ARCH_X86_AMD_EVENTS_H
#define ARCH_X86_AMD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* An event select of twelve bits, and its unit mask. */
#define AMD_CODE(event, umask) ((event) | (uint32_t)(umask) << 16)
#define AMD_CODE_EVENT(code)   ((code)&0xfff)
#define AMD_CODE_UMASK(code)   ((code) >> 16 & 0xff)
#define AMD_CODE_MAX           0xff0fffU

#define AMD_CYCLES       0x076
#define AMD_INSTRUCTIONS 0x0c0

#define AMD_FAMILY_K8  0x0f
#define AMD_FAMILY_15H 0x15
#define AMD_FAMILY_ZEN 0x17

struct amd_event {
	const char *ae_name;
	uint32_t ae_code;
	uint8_t ae_first, ae_last; /* families that have it by this name */
	bool ae_generic;           /* a PAPI_ name */
};
extern const struct amd_event amd_events[];
extern const unsigned amd_nevents;

/* Bit n: core counter n of this family counts the event. */
uint32_t amd_event_pics(unsigned family, uint32_t code);

#endif /* ARCH_X86_AMD_EVENTS_H */
