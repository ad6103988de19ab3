/* Clocks of known rate, to measure the TSC.  Included by arch/x86/dev/. */
#pragma once

#include <stdint.h>

struct refclock {
	const char *name;
	uint64_t hz;
	uint64_t mask;    /* the bits that the clock has */
	unsigned run_div; /* a measurement takes at most 1/run_div seconds */
	uint64_t (*read)(void);
};

/*
 * The clocks that run, the best first, two at most.  Returns how many.  Call
 * once, after acpi_init().
 */
#define REFCLOCKS 2
unsigned x86_refclock_find(struct refclock rc[REFCLOCKS]);
