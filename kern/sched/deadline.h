/*
 * Deadlines of sleeps, as programs give them.  Included by kern/.
 */
#ifndef KERN_SCHED_DEADLINE_H
#define KERN_SCHED_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * *deadline becomes the tick at which a sleep ends, or ~0 for never.  uva is
 * the address of a struct timespec, or 0 for never.  It counts from now, unless
 * absolute.  Returns 0, EFAULT or EINVAL.
 */
int deadline_in(uintptr_t uva, bool absolute, uint64_t *deadline);

#endif /* KERN_SCHED_DEADLINE_H */
