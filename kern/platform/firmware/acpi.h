/* Access to the static tables of ACPI.  Included by arch/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Find the root table.  rsdp is the address in struct bootinfo, or 0 without
 * ACPI.  map() returns a permanent mapping for reading, or NULL.  It is needed
 * because firmware may place tables outside the RAM of the boot map.  Allocates
 * nothing.
 */
void acpi_init(uint64_t rsdp, const void *(*map)(uint64_t pa, size_t bytes));

/*
 * Returns the table with this signature if its checksum is right, or NULL.
 * *bytes becomes its length with the header, which is at least ACPI_HEADER.
 */
#define ACPI_HEADER 36
const unsigned char *acpi_table(const char *signature, uint32_t *bytes);
/* The same for the address that another table gives (DSDT). */
const unsigned char *acpi_table_at(
    uint64_t pa, const char *signature, uint32_t *bytes);

/*
 * Call fn() for the root pointer, the root table, and each table that it or the
 * FADT names, whatever its checksum.  The name has four characters and no NUL.
 */
typedef void firmware_fn(void *arg, const char *name, uint64_t pa,
    const unsigned char *bytes, size_t n);
void acpi_each(firmware_fn *fn, void *arg);

/* The sum of all bytes of a valid table, of SMBIOS too, is 0. */
bool acpi_sums_to_zero(const unsigned char *p, size_t n);
/* Fields of tables are not aligned. */
uint32_t acpi_u32(const unsigned char *p);
uint64_t acpi_u64(const unsigned char *p);

/*
 * A generic address structure, 12 bytes in a table.
 * ACPI Specification 6.4, "Generic Address Structure (GAS)".
 */
#define ACPI_GAS_BYTES  12
#define ACPI_GAS_MEMORY 0
#define ACPI_GAS_IO     1
#define ACPI_GAS_WORD   2
#define ACPI_GAS_DWORD  3
struct acpi_gas {
	uint8_t ag_space;  /* ACPI_GAS_* */
	uint8_t ag_bits;   /* register width */
	uint8_t ag_access; /* 1 byte, 2 word, 3 dword, 4 qword, 0 undefined */
	uint64_t ag_addr;
};
struct acpi_gas acpi_gas(const unsigned char *p);
