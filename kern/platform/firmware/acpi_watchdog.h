/*
 * Watchdogs of ACPI's tables WDAT and WDRT.  Included by arch/, which reaches
 * the registers.
 */
#ifndef KERN_PLATFORM_FIRMWARE_ACPI_WATCHDOG_H
#define KERN_PLATFORM_FIRMWARE_ACPI_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/platform/firmware/acpi.h"

/*
 * Access a register of `bytes` bytes, 1, 2 or 4.  Each returns false if the
 * machine cannot reach it.
 */
struct watchdog_access {
	bool (*read)(const struct acpi_gas *at, unsigned bytes, uint32_t *v);
	bool (*write)(const struct acpi_gas *at, unsigned bytes, uint32_t v);
};

/* Stop the tables' watchdogs that run.  Call after acpi_init(). */
void acpi_watchdog_init(const struct watchdog_access *access);

#endif /* KERN_PLATFORM_FIRMWARE_ACPI_WATCHDOG_H */
