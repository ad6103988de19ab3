/*
 * Finds a 16550 on PCI.
 *
 * PCI Local Bus Specification 3.0, "Configuration Space Organization" (class
 * code, command, base addresses); PCI Code and ID Assignment Specification,
 * "Base Class 07h".
 */
#include "dev/pci/pci.h"

#define REG_COMMAND  0x04
#define REG_TYPE     0x0c
#define REG_BAR0     0x10
#define NO_DEVICE    0xffffffff
#define TYPE_MULTI   (1U << 23)
#define CLASS_16550  0x070002 /* to 070006H: its successors, up to the 16950 */
#define SUCCESSORS   4
#define COMMAND_IO   0x1
#define COMMAND_MEM  0x2
#define BAR_IO_ADDR  0xfffc
#define BAR_64       0x4
#define BAR_MEM_ADDR 0xfffffff0
#define NDEV         32
#define NFUNCTION    8

uint32_t
pci_address(uint32_t bar)
{
	return bar & (bar & PCI_BAR_IO ? BAR_IO_ADDR : BAR_MEM_ADDR);
}

/* Fill in the UART if this function is one that has an address below 4 GiB. */
static bool
use_function(uint32_t f, struct uart *u)
{
	uint32_t bar = pci_read(f, REG_BAR0);

	if ((pci_read(f, PCI_CLASS) >> 8) - CLASS_16550 > SUCCESSORS)
		return false;
	if ((bar & PCI_BAR_IO) == 0 && (bar & BAR_64) != 0 &&
	    pci_read(f, REG_BAR0 + 4) != 0)
		return false;
	if (!pci_place_uart(f, REG_BAR0, u))
		return false;
	/* The upper half is status, of which 1 would clear a bit. */
	pci_write(f, REG_COMMAND,
	    (pci_read(f, REG_COMMAND) & 0xffff) |
		(bar & PCI_BAR_IO ? COMMAND_IO : COMMAND_MEM));
	return true;
}

bool
pci_find_uart(struct uart *u, unsigned buses)
{
	for (uint32_t slot = 0; slot < buses * NDEV; slot++) {
		uint32_t first = slot * NFUNCTION;
		unsigned n = 1;

		if (pci_read(first, PCI_ID) == NO_DEVICE)
			continue;
		if (pci_read(first, REG_TYPE) & TYPE_MULTI)
			n = NFUNCTION;
		for (unsigned i = 0; i < n; i++) {
			if (use_function(first + i, u))
				return true;
		}
	}
	return false;
}
