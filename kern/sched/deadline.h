/*
 * Times at which a sleep ends, as programs give them.  Included by kern/.
 */
#ifndef KERN_SCHED_DEADLINE_H
#define KERN_SCHED_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Until when, in ticks: the struct timespec at uva counts from now, unless
 * it is absolute; without one (0), and beyond all clocks, never (~0).  0,
 * EFAULT, EINVAL.
 */
int deadline_in(uintptr_t uva, bool absolute, uint64_t *deadline);

#endif /* KERN_SCHED_DEADLINE_H */
