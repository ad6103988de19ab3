/*
 * Runs the programs of this boot.  Included by kern/main.c and machine.c.
 */
#ifndef KERN_LAUNCH_H
#define KERN_LAUNCH_H

#include <stdbool.h>

struct cmdline;

/*
 * Run the programs that the command line names, or the suite.  Returns the exit
 * status of the run.
 */
int launch(const struct cmdline *cl);
/* Did the program `spin` of the suite find wrong counts? */
extern bool launch_spin_failed;
/* Show the records on the screen, as pages that can be photographed. */
void show_results(const struct cmdline *cl);

#endif /* KERN_LAUNCH_H */
