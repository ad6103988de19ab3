/*
 * How a run ends: its statuses and its closing line.  Included by kern/.
 */
#ifndef KERN_PLATFORM_RUN_END_H
#define KERN_PLATFORM_RUN_END_H

/* Statuses of the run that are not a program's own; README.md lists them. */
#define EXIT_UNCOUNTED 77 /* ran, but no counters could be given */
#define EXIT_TIMEOUT   124
#define EXIT_FAILED    125 /* the kernel, or what it was told to do, failed */

/* Print the closing line `barecpc: exit N` and end the run. */
_Noreturn void run_end(int status);

#endif /* KERN_PLATFORM_RUN_END_H */
