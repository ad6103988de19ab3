/*
 * The run: programs one after the other, and how it ends.  Included by
 * kern/.
 */
#ifndef KERN_LAUNCH_H
#define KERN_LAUNCH_H

struct cmdline;

/* Statuses of the run that are not a program's own; README.md lists them. */
#define EXIT_UNCOUNTED 77 /* ran, but no counters could be given */
#define EXIT_TIMEOUT   124
#define EXIT_FAILED    125 /* the kernel, or what it was told to do, failed */

/* Run what the command line says; the status of the run. */
int launch(const struct cmdline *cl);
/* Print the closing line `barecpc: exit N` and end the run. */
_Noreturn void run_end(int status);

#endif /* KERN_LAUNCH_H */
