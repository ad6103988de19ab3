/*
 * The machine's and its firmware's names, and the memory modules, from SMBIOS.
 * Included by arch/, which finds the entry point, and by kern/machine.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kern/platform/firmware/acpi.h"

/*
 * Returns the offset of an entry point in n bytes at a paragraph boundary, or
 * n without one.  BIOS of a PC has it in its last 64 KiB.
 */
#define SMBIOS_AREA       0xf0000
#define SMBIOS_AREA_BYTES 0x10000
size_t smbios_find(const unsigned char *area, size_t n);

/*
 * Read the tables.  entry is the physical address of an entry point, or 0
 * without SMBIOS.  map() returns a mapping for reading, or NULL.  Damaged
 * tables have no names.
 */
void smbios_init(uint64_t entry, const void *(*map)(uint64_t pa, size_t bytes));

/* Call fn() for the entry point, "SMEP", and the table, "SMBT". */
void smbios_each(firmware_fn *fn, void *arg);

/*
 * Append names and modules as the member "smbios" of a JSON object, and a
 * comma.  Appends nothing without either.
 */
struct text; /* lib/text.h */
void smbios_describe(struct text *t);
