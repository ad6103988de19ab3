/*
 * What is kept of UEFI after ExitBootServices.  Included by kern/ and by
 * arch/, whose arch_halt() has efi_end() as its last resort.
 */
#ifndef KERN_PLATFORM_EFIRT_H
#define KERN_PLATFORM_EFIRT_H

#include <stdbool.h>

struct bootinfo;

/*
 * Map the runtime services one to one in an address space of their own.
 * Does nothing where UEFI was not the way in.  Called once, by kern_main(),
 * after arch_init().
 */
void efirt_init(const struct bootinfo *bi);

/*
 * Power the machine off, or reset it if the run failed, by ResetSystem: it
 * needs no AML.  Callable from any context, on any CPU, at any time; returns
 * where there is no UEFI or the firmware did not do it.  The address space is
 * then still the firmware's.
 */
void efi_end(bool passed);

#endif /* KERN_PLATFORM_EFIRT_H */
