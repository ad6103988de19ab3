/*
 * The UEFI runtime services that the kernel uses.  Included by kern/, and by
 * arch/, whose arch_halt() calls efi_end() as its last resort.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>

struct bootinfo;

/*
 * Map the runtime services one to one in a separate address space.  Does
 * nothing unless UEFI booted the kernel.  Called once, by kern_main(), after
 * arch_init().
 */
void efirt_init(const struct bootinfo *bi);

/*
 * Call ResetSystem, which needs no AML: power the machine off, or reset it if
 * the run failed.  Callable in any context, on any CPU.  Returns if there is no
 * UEFI or the firmware does nothing; the firmware's address space is then
 * current.
 */
void efi_end(bool passed);
/*
 * Write a UEFI variable that firmware keeps without power, or remove it with 0
 * bytes.  Returns its EFI_STATUS, or ~0 without UEFI.  At the end of a run: the
 * firmware's address space stays current, and interrupts stay off.
 */
uint64_t efi_set_variable(
    const uint16_t *name, const void *vendor, const void *data, size_t bytes);
/* The same for a warm reset, which leaves memory as it is. */
void efi_restart(void);
