/*
 * Finds a 16550 on PCI, by configuration mechanism 1.
 *
 * PCI Local Bus Specification 3.0, "Configuration Space Decoding" (mechanism
 * 1), "Configuration Space Organization" (class code, command, base addresses);
 * PCI Code and ID Assignment Specification, "Base Class 07h".
 */
#include "arch/x86/dev/pci_uart.h"

#include "arch/x86/insn.h"

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA    0xcfc
#define CONFIG_ENABLE  (1U << 31)

#define REG_ID       0x00
#define REG_COMMAND  0x04
#define REG_CLASS    0x08 /* class, subclass, interface, revision */
#define REG_TYPE     0x0c
#define REG_BAR0     0x10
#define NO_DEVICE    0xffffffff
#define TYPE_MULTI   (1U << 23)
#define CLASS_16550  0x070002
#define COMMAND_IO   0x1
#define COMMAND_MEM  0x2
#define BAR_IO       0x1
#define BAR_IO_ADDR  0xfffc
#define BAR_64       0x4
#define BAR_MEM_ADDR 0xfffffff0
#define NBUS         256
#define NDEV         32
#define NFUNCTION    8

static uint32_t
config_read(uint32_t function, unsigned reg)
{
	outl(CONFIG_ADDRESS, CONFIG_ENABLE | function << 8 | reg);
	return inl(CONFIG_DATA);
}

static void
config_write(uint32_t function, unsigned reg, uint32_t v)
{
	outl(CONFIG_ADDRESS, CONFIG_ENABLE | function << 8 | reg);
	outl(CONFIG_DATA, v);
}

/* Fill in the UART if this function is one that has an address below 4 GiB. */
static bool
use_function(uint32_t f, struct uart *u)
{
	uint32_t bar = config_read(f, REG_BAR0);
	uint32_t addr = bar & (bar & BAR_IO ? BAR_IO_ADDR : BAR_MEM_ADDR);

	if (config_read(f, REG_CLASS) >> 8 != CLASS_16550 || addr == 0)
		return false;
	if ((bar & BAR_IO) == 0 && (bar & BAR_64) != 0 &&
	    config_read(f, REG_BAR0 + 4) != 0)
		return false;
	/* The upper half is status, of which 1 would clear a bit. */
	config_write(f, REG_COMMAND,
	    (config_read(f, REG_COMMAND) & 0xffff) |
		(bar & BAR_IO ? COMMAND_IO : COMMAND_MEM));
	*u = uart_make(bar & BAR_IO ? UART_16550_IO : UART_16550, addr);
	return true;
}

bool
pci_find_uart(struct uart *u)
{
	for (uint32_t slot = 0; slot < NBUS * NDEV; slot++) {
		uint32_t first = slot * NFUNCTION;
		unsigned n = 1;

		if (config_read(first, REG_ID) == NO_DEVICE)
			continue;
		if (config_read(first, REG_TYPE) & TYPE_MULTI)
			n = NFUNCTION;
		for (unsigned i = 0; i < n; i++) {
			if (use_function(first + i, u))
				return true;
		}
	}
	return false;
}
