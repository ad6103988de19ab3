/*
 * The vDSO: a page of code in each program that reads the clock without a
 * system call, and the page of data below it.  Included by kern/.
 */
#ifndef KERN_PROC_VDSO_VDSO_H
#define KERN_PROC_VDSO_VDSO_H

#include <stdint.h>

struct proc;

/* Make the two pages that all programs share.  Once, after clock_init(). */
void vdso_init(void);
/*
 * Map the pages at a free range that ends at `end`.  Sets p_vdso and
 * p_sigreturn.  Returns 0 or ENOMEM.  fork(2) shares the mapping.
 */
int vdso_map(struct proc *p, uintptr_t end);

#endif /* KERN_PROC_VDSO_VDSO_H */
