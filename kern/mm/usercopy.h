/*
 * Reaching a payload's memory from a system call.  Included by kern/.
 *
 * As arch_copyin() and its like, and besides they report the address that
 * gives EFAULT, once in a process.
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
/*
 * Until when, in ticks: the struct timespec at uva counts from now, unless
 * it is absolute; without one (0), and beyond all clocks, never (~0).  0,
 * EFAULT, EINVAL.
 */
int deadline_in(uintptr_t uva, bool absolute, uint64_t *deadline);

#endif /* KERN_MM_USERCOPY_H */
