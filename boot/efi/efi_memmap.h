/* UEFI's memory map.  Included by boot/ and by its tests. */
#pragma once

#include <stdint.h>

struct bootinfo;

/* EFI_MEMORY_DESCRIPTOR. */
struct efi_descriptor {
	uint32_t emd_type;
	uint32_t emd_pad;
	uint64_t emd_pa;
	uint64_t emd_va;
	uint64_t emd_pages; /* of 4 KiB */
	uint64_t emd_attribute;
};

/*
 * Add the memory map to bi, as memory is after boot services.  Descriptors are
 * `step` bytes from each other, at least sizeof(struct efi_descriptor).
 */
void efi_convert_map(
    struct bootinfo *bi, const void *map, uint64_t bytes, uint64_t step);
