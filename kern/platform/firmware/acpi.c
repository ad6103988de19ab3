/*
 * Finds the static tables of ACPI and checks their checksums.
 *
 * ACPI Specification 6.4, "Root System Description Pointer (RSDP)", "System
 * Description Table Header", "Root System Description Table (RSDT)",
 * "Extended System Description Table (XSDT)".
 */
#include "kern/platform/firmware/acpi.h"

#include "lib/string.h"

#define RSDP_BYTES   20 /* of revision 0, which has no XSDT address */
#define RSDP_REV     15
#define RSDP_RSDT    16
#define RSDP_XSDT    24
#define RSDP2_BYTES  36
#define TABLE_LENGTH 4
#define TABLE_MAX    (4U << 20) /* a DSDT of a large server is 1 MiB */
#define FADT_DSDT    40
#define FADT_X_DSDT  140 /* if the table has it and it is not 0 */

static struct {
	const void *(*map)(uint64_t pa, size_t bytes);
	uint64_t rsdp, root_pa;
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

bool
acpi_sums_to_zero(const unsigned char *p, size_t n)
{
	unsigned char sum = 0;

	while (n-- > 0)
		sum = (unsigned char)(sum + *p++);
	return sum == 0;
}

/* Map a table with this signature, or any if that is NULL. */
static const unsigned char *
map_table(uint64_t pa, const char *signature, uint32_t *bytes)
{
	const unsigned char *t;

	if (pa == 0 || (t = acpi.map(pa, ACPI_HEADER)) == NULL ||
	    (signature != NULL && memcmp(t, signature, 4) != 0))
		return NULL;
	*bytes = acpi_u32(t + TABLE_LENGTH);
	return *bytes >= ACPI_HEADER && *bytes <= TABLE_MAX
	           ? acpi.map(pa, *bytes)
	           : NULL;
}

const unsigned char *
acpi_table_at(uint64_t pa, const char *signature, uint32_t *bytes)
{
	const unsigned char *t = map_table(pa, signature, bytes);

	return t != NULL && acpi_sums_to_zero(t, *bytes) ? t : NULL;
}

static void
set_root(uint64_t pa, const char *signature, unsigned entry_bytes)
{
	acpi.root_pa = pa;
	acpi.root = acpi_table_at(pa, signature, &acpi.root_bytes);
	acpi.entry_bytes = entry_bytes;
}

void
acpi_init(uint64_t rsdp, const void *(*map)(uint64_t pa, size_t bytes))
{
	const unsigned char *p, *p2;

	acpi.map = map;
	acpi.rsdp = 0;
	acpi.root = NULL;
	if (rsdp == 0 || (p = map(rsdp, RSDP_BYTES)) == NULL ||
	    memcmp(p, "RSD PTR ", 8) != 0 || !acpi_sums_to_zero(p, RSDP_BYTES))
		return;
	acpi.rsdp = rsdp;
	if (p[RSDP_REV] >= 2 && (p2 = map(rsdp, RSDP2_BYTES)) != NULL)
		set_root(acpi_u64(p2 + RSDP_XSDT), "XSDT", 8);
	if (acpi.root == NULL)
		set_root(acpi_u32(p + RSDP_RSDT), "RSDT", 4);
}

static uint64_t
root_entry(uint32_t at)
{
	const unsigned char *e = acpi.root + at;

	return acpi.entry_bytes == 8 ? acpi_u64(e) : acpi_u32(e);
}

const unsigned char *
acpi_table(const char *signature, uint32_t *bytes)
{
	if (acpi.root == NULL)
		return NULL;
	for (uint32_t at = ACPI_HEADER;
	     at + acpi.entry_bytes <= acpi.root_bytes; at += acpi.entry_bytes) {
		const unsigned char *t =
		    acpi_table_at(root_entry(at), signature, bytes);

		if (t != NULL)
			return t;
	}
	return NULL;
}

static void
table_to(firmware_fn *fn, void *arg, uint64_t pa)
{
	uint32_t bytes;
	const unsigned char *t = map_table(pa, NULL, &bytes);
	uint64_t dsdt = 0;

	if (t == NULL)
		return;
	fn(arg, (const char *)t, pa, t, bytes);
	/* ACPI Specification 6.4, "Fixed ACPI Description Table (FADT)". */
	if (memcmp(t, "FACP", 4) != 0)
		return;
	if (bytes >= FADT_X_DSDT + 8)
		dsdt = acpi_u64(t + FADT_X_DSDT);
	if (dsdt == 0 && bytes >= FADT_DSDT + 4)
		dsdt = acpi_u32(t + FADT_DSDT);
	if ((t = map_table(dsdt, "DSDT", &bytes)) != NULL)
		fn(arg, "DSDT", dsdt, t, bytes);
}

void
acpi_each(firmware_fn *fn, void *arg)
{
	const unsigned char *p;
	size_t n = RSDP_BYTES;

	if (acpi.rsdp == 0 || (p = acpi.map(acpi.rsdp, n)) == NULL)
		return;
	if (p[RSDP_REV] >= 2 && acpi.map(acpi.rsdp, RSDP2_BYTES) != NULL)
		n = RSDP2_BYTES;
	fn(arg, "RSDP", acpi.rsdp, p, n);
	if (acpi.root == NULL)
		return;
	fn(arg, (const char *)acpi.root, acpi.root_pa, acpi.root,
	    acpi.root_bytes);
	for (uint32_t at = ACPI_HEADER;
	     at + acpi.entry_bytes <= acpi.root_bytes; at += acpi.entry_bytes)
		table_to(fn, arg, root_entry(at));
}
