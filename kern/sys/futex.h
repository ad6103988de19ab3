/*
 * Sleeping on a word of a process's memory.  Included by kern/.
 */
#ifndef KERN_SYS_FUTEX_H
#define KERN_SYS_FUTEX_H

#include <stdint.h>

/* Store 0 at uva and wake one of the current process that waits for it. */
void futex_clear(uintptr_t uva);

#endif /* KERN_SYS_FUTEX_H */
