/*
 * Copies to and from a program's memory.  Included by kern/ and arch/.
 *
 * Returns 0, or EFAULT if a byte is not mapped with the right access or is in
 * the upper half.  After EFAULT a part may have been copied.  The address is
 * reported to the function that usercopy_on_refusal() sets.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int copyin(void *dst, uintptr_t uva, size_t len);
int copyout(uintptr_t uva, const void *src, size_t len);
/* A string with its NUL.  ENAMETOOLONG if max bytes have no NUL. */
int copyinstr(char *dst, uintptr_t uva, size_t max);
/* The same without a report. */
int copyin_quietly(void *dst, uintptr_t uva, size_t len);
int copyout_quietly(uintptr_t uva, const void *src, size_t len);
/* Report uva as a failed copy would, and return EFAULT. */
int usercopy_fault(uintptr_t uva);
/* Fill a program's memory with zeros.  Returns 0 or EFAULT. */
int copyzero(uintptr_t uva, size_t len);
/* Call fn with the address of each copy that fails from now on. */
void usercopy_on_refusal(void (*fn)(uintptr_t uva));
