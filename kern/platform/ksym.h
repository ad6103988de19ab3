/* Names for kernel addresses.  Included by kern/ and arch/. */
#pragma once

#include <stdint.h>

/*
 * Returns the name of the function that contains addr, and the offset in it;
 * "?" and 0 if addr is in no function.
 */
const char *ksym_lookup(uintptr_t addr, uintptr_t *offset);
/* Print a backtrace: the frame pointers of the kernel stack from fp on. */
void ksym_backtrace(uintptr_t fp);
