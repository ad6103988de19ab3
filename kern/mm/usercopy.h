/*
 * Copies between the kernel and a program's memory.  Included by kern/.
 *
 * They work as arch_copyin() does, and report an address that gives EFAULT.
 */
#ifndef KERN_MM_USERCOPY_H
#define KERN_MM_USERCOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int copyin(void *dst, uintptr_t uva, size_t len);
int copyout(uintptr_t uva, const void *src, size_t len);
int copyinstr(char *dst, uintptr_t uva, size_t max);
/* Report the address as they do; EFAULT. */
int copy_refuse(uintptr_t uva);
/* Fill with zeros. */
int copyzero(uintptr_t uva, size_t len);
/* From now on, call fn with each address that a copy could not reach. */
void usercopy_on_refusal(void (*fn)(uintptr_t uva));

#endif /* KERN_MM_USERCOPY_H */
