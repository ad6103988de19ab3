/*
 * PCI's configuration registers, and the serial ports found by them.  Included
 * by arch/, and by dev/pci/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dev/uart/uart.h"

/*
 * Registers of every function's header.
 * PCI Local Bus Specification 3.0, "Configuration Space Organization".
 */
#define PCI_ID    0x00 /* vendor in bits 15:0, device in 31:16 */
#define PCI_CLASS 0x08 /* class, subclass, interface, revision */

#define PCI_FUNCTION(bus, device, function)                                    \
	((uint32_t)(bus) << 8 | (uint32_t)(device) << 3 | (function))

/*
 * The machine's part: access the 32 bits at `reg`, a multiple of 4, of a
 * function.  All bits are 1 if there is no function.
 */
uint32_t pci_read(uint32_t function, unsigned reg);
void pci_write(uint32_t function, unsigned reg, uint32_t v);

/* A base address register, and the address in it, or 0. */
#define PCI_BAR_IO 0x1
uint32_t pci_address(uint32_t bar);
/*
 * The machine's part: fill in the UART whose base address is in this register.
 * False if it has none below 4 GiB, or the CPU cannot reach it.
 */
bool pci_place_uart(uint32_t function, unsigned reg, struct uart *u);

/*
 * Fill in the first 16550 on the first `buses` buses that has an address, and
 * turn on its decoder.  Returns false if all are without.
 */
bool pci_find_uart(struct uart *u, unsigned buses);
