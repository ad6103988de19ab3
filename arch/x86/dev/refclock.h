/*
 * Clocks of known rate that are only used to measure others.  Included by
 * arch/x86/.
 */
#ifndef ARCH_X86_DEV_REFCLOCK_H
#define ARCH_X86_DEV_REFCLOCK_H

#include <stdint.h>

struct refclock {
	const char *name;
	uint64_t hz;
	uint64_t mask;    /* of the bits that count */
	unsigned run_div; /* a measurement takes 1/run_div seconds */
	uint64_t (*read)(void);
};

/* The best there is and runs, or NULL.  Once, after ACPI's tables. */
const struct refclock *x86_refclock_find(void);

#endif /* ARCH_X86_DEV_REFCLOCK_H */
