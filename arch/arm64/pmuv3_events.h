/*
 * Event names of PMUv3.  Included by the PMUv3 backend.
 */
#ifndef ARCH_ARM64_PMUV3_EVENTS_H
#define ARCH_ARM64_PMUV3_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define EVENT_SW_INCR      0x0000
#define EVENT_INST_RETIRED 0x0008
#define EVENT_CPU_CYCLES   0x0011

struct pmuv3_event {
	const char *pe_name;
	uint16_t pe_number;
	bool pe_generic; /* a PAPI_ name */
};
extern const struct pmuv3_event pmuv3_events[];
extern const unsigned pmuv3_nevents;

#endif /* ARCH_ARM64_PMUV3_EVENTS_H */
