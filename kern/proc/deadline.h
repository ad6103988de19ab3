/* Deadlines of sleeps, as programs give them.  Included by kern/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/sched/timer.h"

/*
 * *deadline becomes the tick at which a sleep ends, or ~0 for never.  uva is
 * the address of a struct timespec, or 0 for never.  It counts from now, unless
 * absolute.  Returns 0, EFAULT or EINVAL.
 */
int deadline_in(uintptr_t uva, bool absolute, uint64_t *deadline);

/*
 * The two steps of deadline_in().  *ns becomes the time of a struct timespec,
 * at most INT64_MAX.  Returns 0 or EINVAL.
 */
int timespec_ns(const int64_t ts[2], hrtime_t *ns);
uint64_t deadline_tick(hrtime_t ns, bool absolute);
