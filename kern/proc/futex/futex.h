/*
 * Sleeping on a word of a process's memory.  Included by kern/.
 */
#ifndef KERN_PROC_FUTEX_FUTEX_H
#define KERN_PROC_FUTEX_FUTEX_H

#include <stdint.h>

struct lwp;

/* Store 0 at uva, and wake one LWP that waits there. */
void futex_clear(uintptr_t uva);
/* An LWP ends, or executes a program: release the locks that it holds. */
void futex_lwp_exit(struct lwp *l);
/* The system call futex(2). */
intptr_t sys_futex(const uintptr_t *a);

#endif /* KERN_PROC_FUTEX_FUTEX_H */
