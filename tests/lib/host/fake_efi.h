/* UEFI's boot services that give memory, for tests of the UEFI application. */
#pragma once

#include "boot/efi/efi.h"

extern EFI_BOOT_SERVICES fake_services; /* efi_bs */

/* GetMemoryMap() returns these, at a distance, each time with a new key. */
void fake_efi_map(const EFI_MEMORY_DESCRIPTOR *map, unsigned n);
/* The key of the last map. */
UINTN fake_efi_key(void);

/* Free what efi_alloc() has returned. */
void fake_efi_free(void);
