/*
 * Calls into UEFI, which uses Microsoft's calling convention.
 *
 * UEFI Specification, "x64 Platforms", "Detailed Calling Conventions".
 */
#include "kern/arch.h"

typedef uint64_t __attribute__((ms_abi))
efi_fn(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

uint64_t
arch_efi_call(
    uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	return ((efi_fn *)(uintptr_t)fn)(a, b, c, d, e);
}
