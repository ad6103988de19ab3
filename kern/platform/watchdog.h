/*
 * Watchdogs that firmware left running.  Included by arch/, which reaches the
 * registers, and by kern/machine.c.
 */
#ifndef KERN_PLATFORM_WATCHDOG_H
#define KERN_PLATFORM_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/platform/acpi.h"

struct text; /* lib/text.h */

/*
 * Access a register of `bytes` bytes, 1, 2 or 4.  Each returns false if the
 * machine cannot reach it.
 */
struct watchdog_access {
	bool (*read)(const struct acpi_gas *at, unsigned bytes, uint32_t *v);
	bool (*write)(const struct acpi_gas *at, unsigned bytes, uint32_t v);
};

/*
 * Stop the watchdog of ACPI's table WDAT if it runs, and print a line.  Call
 * after acpi_init().
 */
void watchdog_init(const struct watchdog_access *access);

/* Append the member "watchdog", and a comma; nothing without a watchdog. */
void watchdog_describe(struct text *t);

#endif /* KERN_PLATFORM_WATCHDOG_H */
