/*
 * Copies to and from a program's memory.  Included by kern/ and arch/.
 *
 * Results are those of arch_copyin() and the like.  An address that causes
 * EFAULT is reported to the function that usercopy_on_refusal() sets.
 */
#ifndef KERN_MM_USERCOPY_H
#define KERN_MM_USERCOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int copyin(void *dst, uintptr_t uva, size_t len);
int copyout(uintptr_t uva, const void *src, size_t len);
int copyinstr(char *dst, uintptr_t uva, size_t max);
/* Report uva as a failed copy would, and return EFAULT. */
int usercopy_fault(uintptr_t uva);
/* Fill a program's memory with zeros.  Returns 0 or EFAULT. */
int copyzero(uintptr_t uva, size_t len);
/* Call fn with the address of each copy that fails from now on. */
void usercopy_on_refusal(void (*fn)(uintptr_t uva));

#endif /* KERN_MM_USERCOPY_H */
