/*
 * PCI's configuration registers in memory (ECAM), and addresses of devices, by
 * a device tree.  Firmware may have left the serial port without an address:
 * then it gets one here.
 *
 * PCI Express Base Specification, "PCI Express Enhanced Configuration Access
 * Mechanism".
 */
#include "dev/pci/pci.h"

#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "kern/arch.h"

#define FUNCTION_SHIFT 12
#define NO_REGISTER    0xffffffff
/* In a window, for the only device that gets an address here. */
#define FREE_ADDRESS 0x1000

static volatile uint32_t *
config(uint32_t function, unsigned reg)
{
	uint64_t at = ((uint64_t)function << FUNCTION_SHIFT) + reg;
	const struct range *ecam = &machine.m_pci.hb_ecam;
	volatile uint32_t *p;

	if (ecam->r_pa == 0 || at >= ecam->r_bytes)
		return NULL;
	p = arch_map_device(ecam->r_pa + at, sizeof(uint32_t));
	return p != NULL && arm64_answers(p) ? p : NULL;
}

uint32_t
pci_read(uint32_t function, unsigned reg)
{
	const volatile uint32_t *p = config(function, reg);

	return p != NULL ? mmio_read32(p) : NO_REGISTER;
}

void
pci_write(uint32_t function, unsigned reg, uint32_t v)
{
	volatile uint32_t *p = config(function, reg);

	if (p != NULL)
		mmio_write32(p, v);
}

/* A port is memory here, if the window's place is known. */
bool
pci_place_uart(uint32_t function, unsigned reg, struct uart *u)
{
	uint32_t bar = pci_read(function, reg), addr = pci_address(bar);
	const struct machine_window *w = (bar & PCI_BAR_IO) != 0
	                                     ? &machine.m_pci.hb_io
	                                     : &machine.m_pci.hb_memory;

	if (w->pn_bytes <= FREE_ADDRESS) {
		*u = uart_make(UART_16550, addr);
		return addr != 0 && (bar & PCI_BAR_IO) == 0;
	}
	if (addr == 0) {
		pci_write(function, reg, (uint32_t)w->pn_bus + FREE_ADDRESS);
		addr = pci_address(pci_read(function, reg));
	}
	*u = uart_make(UART_16550, w->pn_pa + (addr - w->pn_bus));
	return addr - w->pn_bus < w->pn_bytes;
}
