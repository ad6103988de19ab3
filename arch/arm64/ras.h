/*
 * Error records of the RAS extension.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_RAS_H
#define ARCH_ARM64_RAS_H

#include <stdbool.h>

/* May the calling CPU's error records be read? */
bool arm64_ras_exists(void);
/* Clear what the records of the calling CPU hold from before the boot. */
void arm64_ras_cpu_init(void);
/*
 * Print and clear the errors in the records that the calling CPU reaches.
 * Returns how many there were.
 */
unsigned arm64_ras_take(void);

#endif /* ARCH_ARM64_RAS_H */
