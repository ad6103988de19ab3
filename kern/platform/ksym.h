/*
 * Names for kernel addresses.  Included by kern/ and arch/.
 */
#ifndef KERN_PLATFORM_KSYM_H
#define KERN_PLATFORM_KSYM_H

#include <stdint.h>

/* The function that holds addr and the offset in it; "?" where none does. */
const char *ksym_lookup(uintptr_t addr, uintptr_t *offset);
/* Print who called whom, walking frame pointers of the kernel's stack. */
void ksym_backtrace(uintptr_t fp);

#endif /* KERN_PLATFORM_KSYM_H */
