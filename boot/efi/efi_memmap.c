/*
 * Converts UEFI's memory map, for the UEFI application and for a kernel to
 * which another one hands the map.
 *
 * UEFI, "EFI_BOOT_SERVICES.AllocatePages()" (EFI_MEMORY_TYPE, "Memory Type
 * Usage after ExitBootServices()"), "EFI_BOOT_SERVICES.GetMemoryMap()".
 */
#include "boot/efi/efi_memmap.h"

#include <stdbool.h>

#include "kern/platform/bootinfo.h"

#define PAGE_BYTES     4096
#define MEMORY_RUNTIME (1ULL << 63)

enum {
	LOADER_CODE = 1,
	LOADER_DATA,
	BOOT_SERVICES_CODE,
	BOOT_SERVICES_DATA,
	RUNTIME_SERVICES_CODE,
	RUNTIME_SERVICES_DATA,
	CONVENTIONAL_MEMORY,
	UNUSABLE_MEMORY,
	ACPI_RECLAIM_MEMORY,
	ACPI_MEMORY_NVS,
};

/* Reserved memory may be RAM or registers: do not map it without a reason. */
static enum bootmem_type
bootmem_type(const struct efi_descriptor *d)
{
	bool runtime = (d->emd_attribute & MEMORY_RUNTIME) != 0;

	switch (d->emd_type) {
	case LOADER_CODE:
	case LOADER_DATA:
	case BOOT_SERVICES_CODE:
	case BOOT_SERVICES_DATA:
	case CONVENTIONAL_MEMORY:
		return BOOTMEM_FREE;
	case RUNTIME_SERVICES_CODE:
	case RUNTIME_SERVICES_DATA:
		return BOOTMEM_RUNTIME;
	case ACPI_RECLAIM_MEMORY:
	case ACPI_MEMORY_NVS:
		return BOOTMEM_ACPI;
	default:
		return runtime ? BOOTMEM_RUNTIME_DEVICE : BOOTMEM_DEVICE;
	}
}

/* Extend the last range of the map: firmware's maps have many small parts. */
static bool
extend_last(struct bootinfo *bi, uint64_t base, uint64_t len, uint32_t type)
{
	if (bi->bi_nmem == 0)
		return false;
	struct bootmem *last = &bi->bi_mem[bi->bi_nmem - 1];
	/* Do not extend a range that ends at 2^64, or by one that wraps. */
	if (last->bm_type != type || last->bm_base + last->bm_len != base ||
	    base == 0 || base + len < base)
		return false;
	last->bm_len += len;
	return true;
}

void
efi_convert_map(
    struct bootinfo *bi, const void *map, uint64_t bytes, uint64_t step)
{
	for (uint64_t at = 0; at + step <= bytes; at += step) {
		const struct efi_descriptor *d =
		    (const void *)((const char *)map + at);
		enum bootmem_type type = bootmem_type(d);
		uint64_t len = d->emd_pages * PAGE_BYTES;

		if (!extend_last(bi, d->emd_pa, len, type))
			bootinfo_add(bi, d->emd_pa, len, type);
	}
}
