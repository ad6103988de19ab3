/*
 * Intel's architectural events.  Included by the Intel backend.
 */
#ifndef ARCH_X86_INTEL_EVENTS_H
#define ARCH_X86_INTEL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What an event is encoded as: umask and event select for general PICs.
 * Those that fixed PIC n alone counts are named by what RDPMC takes for it.
 */
#define INTEL_CODE(event, umask) ((event) | (uint32_t)(umask) << 8)
#define INTEL_FIXED_CODE(n)      (0x40000000U + (n))
#define INTEL_NFIXED             4

struct intel_event {
	const char *ie_name;
	uint32_t ie_code;
	uint8_t ie_bit;   /* of availability in CPUID.0AH:EBX */
	int8_t ie_fixed;  /* the fixed PIC that counts it, too, or -1 */
	uint8_t ie_cache; /* the level of the last cache it is about, or 0 */
	bool ie_generic;  /* a PAPI_ name */
};
extern const struct intel_event intel_events[];
extern const unsigned intel_nevents;

#endif /* ARCH_X86_INTEL_EVENTS_H */
