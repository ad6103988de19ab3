/*
 * The power block of BCM2835 and its successors.  Included by halt.c.
 */
#ifndef ARCH_ARM64_DEV_BCM_PM_H
#define ARCH_ARM64_DEV_BCM_PM_H

#include <stdbool.h>

/* Map the registers, if the machine has them. */
void bcm_pm_init(void);
/*
 * End the run: halt the machine if it passed, else reset it.  Returns only if
 * the machine lacks the block.
 */
void bcm_pm_end(bool passed);

#endif /* ARCH_ARM64_DEV_BCM_PM_H */
