/*
 * The run: programs one after the other.  Included by kern/main.c.
 */
#ifndef KERN_LAUNCH_H
#define KERN_LAUNCH_H

struct cmdline;

/* Run what the command line says; the status of the run. */
int launch(const struct cmdline *cl);

#endif /* KERN_LAUNCH_H */
