/*
 * The software backend.  Included by kern/main.c and tests/host.
 */
#ifndef KERN_CPC_SOFT_SOFT_PCBE_H
#define KERN_CPC_SOFT_SOFT_PCBE_H

#include "kern/cpc/pcbe.h"
#include "kern/cpc/soft/soft_shape.h"

/* The longest user mask, comparison mask and code. */
#define NULL_FIELD_MAX 0xff

/*
 * Be a PMU of this shape, every PIC of every CPU stopped; `word` is what it
 * calls itself.  Once, before kcpc_init(), which is given the result.
 */
const struct pcbe_ops *soft_pcbe(
    const struct soft_shape *shape, const char *word);

/* PICs of CPU n that run; what one holds. */
uint32_t soft_pcbe_running(unsigned cpu);
uint64_t soft_pcbe_raw(unsigned cpu, unsigned pic);

#endif /* KERN_CPC_SOFT_SOFT_PCBE_H */
