/*
 * ACPI Specification 6.4, "Root System Description Pointer (RSDP)", "System
 * Description Table Header", "Extended System Description Table (XSDT)".
 */
#include "arch/arm64/acpi.h"

#include <stdbool.h>
#include <stddef.h>

#include "kern/arch.h"
#include "kern/bootinfo.h"
#include "lib/string.h"

#define RSDP_BYTES   36
#define RSDP_XSDT    24
#define HEADER_BYTES 36
#define TABLE_MAX    (1U << 20) /* static ones are a few KiB */

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

/* All bytes of a table add up to 0. */
static bool
sums_to_zero(const unsigned char *p, uint32_t n)
{
	unsigned char sum = 0;

	while (n-- > 0)
		sum = (unsigned char)(sum + *p++);
	return sum == 0;
}

/* Is the memory there to be read through the direct map? */
static bool
is_memory(const struct bootinfo *bi, uint64_t pa, uint64_t bytes)
{
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];

		if (m->bm_type != BOOTMEM_DEVICE &&
		    m->bm_type != BOOTMEM_RUNTIME_DEVICE && pa >= m->bm_base &&
		    pa - m->bm_base < m->bm_len)
			return bytes <= m->bm_len - (pa - m->bm_base);
	}
	return false;
}

static const unsigned char *
table_at(const struct bootinfo *bi, uint64_t pa, const char *signature,
    uint32_t *bytes)
{
	const unsigned char *t = pa_to_va(pa);

	if (!is_memory(bi, pa, HEADER_BYTES) || memcmp(t, signature, 4) != 0)
		return NULL;
	*bytes = acpi_u32(t + 4);
	if (*bytes < HEADER_BYTES || *bytes > TABLE_MAX ||
	    !is_memory(bi, pa, *bytes) || !sums_to_zero(t, *bytes))
		return NULL;
	return t;
}

const unsigned char *
acpi_table(const struct bootinfo *bi, const char *signature, uint32_t *bytes)
{
	const unsigned char *rsdp = pa_to_va(bi->bi_rsdp), *xsdt, *t;
	uint32_t n;

	if (bi->bi_rsdp == 0 || !is_memory(bi, bi->bi_rsdp, RSDP_BYTES) ||
	    memcmp(rsdp, "RSD PTR ", 8) != 0)
		return NULL;
	xsdt = table_at(bi, acpi_u64(rsdp + RSDP_XSDT), "XSDT", &n);
	for (uint32_t at = HEADER_BYTES; xsdt != NULL && at + 8 <= n; at += 8) {
		t = table_at(bi, acpi_u64(xsdt + at), signature, bytes);
		if (t != NULL)
			return t;
	}
	return NULL;
}
