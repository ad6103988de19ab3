/*
 * Configuration registers of PCI, by configuration mechanism 1.
 * PCI Local Bus Specification 3.0, "Configuration Space Decoding".
 */
#include "dev/pci/pci.h"

#include "arch/x86/insn.h"

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA    0xcfc
#define CONFIG_ENABLE  (1U << 31)

uint32_t
pci_read(uint32_t function, unsigned reg)
{
	outl(CONFIG_ADDRESS, CONFIG_ENABLE | function << 8 | reg);
	return inl(CONFIG_DATA);
}

void
pci_write(uint32_t function, unsigned reg, uint32_t v)
{
	outl(CONFIG_ADDRESS, CONFIG_ENABLE | function << 8 | reg);
	outl(CONFIG_DATA, v);
}

bool
pci_place_uart(uint32_t function, unsigned reg, struct uart *u)
{
	uint32_t bar = pci_read(function, reg), addr = pci_address(bar);

	*u = uart_make(
	    (bar & PCI_BAR_IO) != 0 ? UART_16550_IO : UART_16550, addr);
	return addr != 0;
}
