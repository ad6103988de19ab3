/*
 * The time from the first instruction of the image to the first instruction
 * of a payload.  Included by kern/.
 */
#ifndef KERN_PLATFORM_BOOT_TIME_H
#define KERN_PLATFORM_BOOT_TIME_H

/* Called before each entry of a payload; only the first call has an effect. */
void boottime_first_payload(void);
/* Print the time, if a payload ran. */
void boottime_print(void);

#endif /* KERN_PLATFORM_BOOT_TIME_H */
