/*
 * UEFI's boot services, as far as they give memory.  Included by host tests of
 * the UEFI application, which add the services that they need.
 */
#pragma once

#include "boot/efi/efi.h"

extern EFI_BOOT_SERVICES fake_services; /* efi_bs */

/*
 * GetMemoryMap() returns these descriptors, at a distance that is longer than
 * one.  Each map that it returns has a new key.
 */
void fake_efi_map(const EFI_MEMORY_DESCRIPTOR *map, unsigned n);
/* The key of the last map. */
UINTN fake_efi_key(void);

/* Free what efi_alloc() has returned. */
void fake_efi_free(void);
