/* The console's UART in ACPI's tables.  Included by arch/. */
#ifndef KERN_PLATFORM_FIRMWARE_ACPI_UART_H
#define KERN_PLATFORM_FIRMWARE_ACPI_UART_H

#include "dev/uart/uart.h"

/*
 * Fill in the UART that ACPI names, and return the signature of its table.
 * Returns NULL, and leaves *u alone, if there is no table, or no driver for its
 * UART.  Call it after acpi_init().
 */
const char *acpi_uart(struct uart *u);

#endif /* KERN_PLATFORM_FIRMWARE_ACPI_UART_H */
