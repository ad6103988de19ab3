/*
 * Finds the static tables of ACPI and checks their checksums.
 *
 * ACPI Specification 6.4, "Root System Description Pointer (RSDP)", "System
 * Description Table Header", "Root System Description Table (RSDT)",
 * "Extended System Description Table (XSDT)".
 */
#include "kern/platform/acpi.h"

#include <stdbool.h>

#include "lib/string.h"

#define RSDP_BYTES   20 /* of revision 0, which has no XSDT address */
#define RSDP_REV     15
#define RSDP_RSDT    16
#define RSDP_XSDT    24
#define RSDP2_BYTES  36
#define TABLE_LENGTH 4
#define TABLE_MAX    (4U << 20) /* a DSDT of a large server is 1 MiB */

static struct {
	const void *(*map)(uint64_t pa, size_t bytes);
	const unsigned char *root; /* RSDT or XSDT; NULL: no tables */
	uint32_t root_bytes;
	unsigned entry_bytes;
} acpi;

uint32_t
acpi_u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

uint64_t
acpi_u64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

struct acpi_gas
acpi_gas(const unsigned char *p)
{
	return (struct acpi_gas){ p[0], p[1], p[3], acpi_u64(p + 4) };
}

/* The sum of all bytes of a valid table is 0. */
static bool
sums_to_zero(const unsigned char *p, uint32_t n)
{
	unsigned char sum = 0;

	while (n-- > 0)
		sum = (unsigned char)(sum + *p++);
	return sum == 0;
}

const unsigned char *
acpi_table_at(uint64_t pa, const char *signature, uint32_t *bytes)
{
	const unsigned char *t;

	if (pa == 0 || (t = acpi.map(pa, ACPI_HEADER)) == NULL ||
	    memcmp(t, signature, 4) != 0)
		return NULL;
	*bytes = acpi_u32(t + TABLE_LENGTH);
	if (*bytes < ACPI_HEADER || *bytes > TABLE_MAX ||
	    (t = acpi.map(pa, *bytes)) == NULL || !sums_to_zero(t, *bytes))
		return NULL;
	return t;
}

static void
set_root(uint64_t pa, const char *signature, unsigned entry_bytes)
{
	acpi.root = acpi_table_at(pa, signature, &acpi.root_bytes);
	acpi.entry_bytes = entry_bytes;
}

void
acpi_init(uint64_t rsdp, const void *(*map)(uint64_t pa, size_t bytes))
{
	const unsigned char *p, *p2;

	acpi.map = map;
	if (rsdp == 0 || (p = map(rsdp, RSDP_BYTES)) == NULL ||
	    memcmp(p, "RSD PTR ", 8) != 0 || !sums_to_zero(p, RSDP_BYTES))
		return;
	if (p[RSDP_REV] >= 2 && (p2 = map(rsdp, RSDP2_BYTES)) != NULL)
		set_root(acpi_u64(p2 + RSDP_XSDT), "XSDT", 8);
	if (acpi.root == NULL)
		set_root(acpi_u32(p + RSDP_RSDT), "RSDT", 4);
}

const unsigned char *
acpi_table(const char *signature, uint32_t *bytes)
{
	if (acpi.root == NULL)
		return NULL;
	for (uint32_t at = ACPI_HEADER;
	     at + acpi.entry_bytes <= acpi.root_bytes; at += acpi.entry_bytes) {
		const unsigned char *e = acpi.root + at, *t;

		t = acpi_table_at(
		    acpi.entry_bytes == 8 ? acpi_u64(e) : acpi_u32(e),
		    signature, bytes);
		if (t != NULL)
			return t;
	}
	return NULL;
}
