/*
 * The time that a child used, for the calls that wait for it.  Included by
 * kern/sys/.
 */
#ifndef KERN_SYS_USAGE_H
#define KERN_SYS_USAGE_H

#include <stdint.h>

struct proc;

/*
 * Write the struct rusage of an ended child; NULL: of none.  An address of 0 is
 * skipped.  Returns 0 or EFAULT.
 */
int usage_copyout(uintptr_t uva, const struct proc *child);

#endif /* KERN_SYS_USAGE_H */
