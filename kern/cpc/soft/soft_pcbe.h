/*
 * The software PMU.  Included by kern/main.c, and by tests/host, whose
 * fake_pcbe.c adds to it what only tests need.
 */
#pragma once

#include "kern/cpc/pcbe.h"
#include "kern/cpc/soft/soft_shape.h"

/* The largest unit mask, counter mask and raw code. */
#define SOFT_FIELD_MAX 0xff

/*
 * A backend for a software PMU of this shape, with every PIC of every CPU
 * stopped.  Its name contains `word`.  Called once; the caller hands the
 * result to kcpc_init().
 */
const struct pcbe_ops *soft_pcbe(
    const struct soft_shape *shape, const char *word);

/*
 * n instructions retire on this CPU at that privilege (CPC_COUNT_*), without
 * an interrupt.  Returns the PICs that overflowed and would interrupt.
 */
uint32_t soft_pcbe_retire(uint64_t n, unsigned privilege);
/* The PICs of a CPU that run; the value of one. */
uint32_t soft_pcbe_running(unsigned cpu);
uint64_t soft_pcbe_raw(unsigned cpu, unsigned pic);
