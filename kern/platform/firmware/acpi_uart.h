/* The console's UART in ACPI's tables.  Included by arch/. */
#pragma once

#include "dev/uart/uart.h"

/*
 * Fill in the UART that ACPI names, and return the signature of its table.
 * Returns NULL, and leaves *u alone, if there is no table, or no driver for its
 * UART.  Call it after acpi_init().
 */
const char *acpi_uart(struct uart *u);
