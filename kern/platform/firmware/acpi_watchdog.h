/*
 * Watchdogs of ACPI's tables WDAT and WDRT.  Included by arch/x86/, which
 * reaches the registers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/platform/firmware/acpi.h"

/*
 * The machine's part: access a register of `bytes` bytes, 1, 2 or 4.  Each
 * returns false if the machine cannot reach it.
 */
bool acpi_reg_read(const struct acpi_gas *at, unsigned bytes, uint32_t *v);
bool acpi_reg_write(const struct acpi_gas *at, unsigned bytes, uint32_t v);

/* Stop the tables' watchdogs that run.  Call after acpi_init(). */
void acpi_watchdog_init(void);
