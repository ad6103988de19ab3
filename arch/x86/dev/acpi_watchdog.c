/*
 * The register accesses of watchdogs in ACPI's tables
 * (kern/platform/firmware/acpi_watchdog.h): I/O ports, and words of 32 bits in
 * memory.
 */
#include "kern/platform/firmware/acpi_watchdog.h"

#include <stddef.h>

#include "arch/x86/insn.h"
#include "arch/x86/mmio.h"
#include "kern/arch.h"

static bool
is_port(const struct acpi_gas *at, unsigned bytes)
{
	return at->ag_space == ACPI_GAS_IO && at->ag_addr <= 0x10000 - bytes;
}

static volatile uint32_t *
map_word(const struct acpi_gas *at, unsigned bytes)
{
	return at->ag_space == ACPI_GAS_MEMORY && bytes == 4 &&
	               at->ag_addr % 4 == 0
	           ? arch_map_device(at->ag_addr, 4)
	           : NULL;
}

bool
acpi_reg_read(const struct acpi_gas *at, unsigned bytes, uint32_t *v)
{
	uint16_t port = (uint16_t)at->ag_addr;
	const volatile uint32_t *word;

	if (is_port(at, bytes)) {
		*v = bytes == 1   ? inb(port)
		     : bytes == 2 ? inw(port)
		                  : inl(port);
		return true;
	}
	if ((word = map_word(at, bytes)) == NULL)
		return false;
	*v = mmio_read32(word);
	return true;
}

bool
acpi_reg_write(const struct acpi_gas *at, unsigned bytes, uint32_t v)
{
	uint16_t port = (uint16_t)at->ag_addr;
	volatile uint32_t *word;

	if (is_port(at, bytes)) {
		if (bytes == 1)
			outb(port, (uint8_t)v);
		else if (bytes == 2)
			outw(port, (uint16_t)v);
		else
			outl(port, v);
		return true;
	}
	if ((word = map_word(at, bytes)) == NULL)
		return false;
	mmio_write32(word, v);
	return true;
}
