/*
 * What it cost to get from the image's first instruction to the first
 * payload's.  Included by kern/.
 */
#ifndef KERN_PLATFORM_BOOT_TIME_H
#define KERN_PLATFORM_BOOT_TIME_H

/* Called on the way into a payload; the first call counts. */
void boottime_first_payload(void);
/* Print it, if a payload ran. */
void boottime_print(void);

#endif /* KERN_PLATFORM_BOOT_TIME_H */
