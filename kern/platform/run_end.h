/*
 * How a run ends: its statuses and its closing line.  Included by kern/.
 */
#ifndef KERN_PLATFORM_RUN_END_H
#define KERN_PLATFORM_RUN_END_H

/* Exit statuses of the run that the kernel sets; README.md lists them. */
#define EXIT_UNCOUNTED 77 /* ran, but no counters could be given */
#define EXIT_TIMEOUT   124
#define EXIT_FAILED    125 /* the kernel failed, or a program did not start */

/* Send the frame with the status, print `barecpc: exit N`, end the run. */
_Noreturn void run_end(int status);

/*
 * boot_time.c: the time from the image's first instruction to a payload's.
 * Called before each entry of a payload; only the first call has an effect.
 */
void boottime_first_payload(void);
/* Print the time, if a payload ran. */
void boottime_print(void);

#endif /* KERN_PLATFORM_RUN_END_H */
