/*
 * The tables that a kernel gets from a boot loader or a Linux that UEFI
 * started: the system table and a memory map.  Included by boot/.  Boot
 * services are over.  Runtime services are not used, because Linux has moved
 * them to addresses of its own.
 */
#pragma once

#include <stdint.h>

struct bootinfo;

/* All addresses are physical. */
struct efi_handed {
	uint64_t efh_systab; /* EFI_SYSTEM_TABLE */
	uint64_t efh_map;    /* of EFI_MEMORY_DESCRIPTOR */
	uint64_t efh_map_bytes;
	uint64_t efh_step; /* from one descriptor to the next */
};

/*
 * Memory that the caller can read: map() returns the address at which `bytes`
 * bytes at pa can be read, or NULL.
 */
typedef const void *efi_map_fn(uint64_t pa, uint64_t bytes);

/*
 * Set bi_rsdp and bi_smbios from the firmware's configuration tables, and keep
 * the memory that Linux reserved there.
 */
void efi_handed_tables(
    struct bootinfo *bi, const struct efi_handed *eh, efi_map_fn *map);
