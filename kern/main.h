/* The parts of a boot that the files of kern/ share.  Included by them. */
#pragma once

#include <stdbool.h>

struct bootinfo;
struct cmdline;
struct file;
struct text; /* lib/text.h */

/*
 * launch.c: run the programs that the command line names, or the suite. Returns
 * the exit status of the run.
 */
int launch(const struct cmdline *cl);
/* Did the program `spin` of the suite find wrong counts? */
extern bool launch_spin_failed;
/* Show the records on the screen, as pages that can be photographed. */
void show_results(const struct cmdline *cl);

/* machine.c: remember how the machine booted, and register /dev/machine. */
void machine_init(const struct bootinfo *bi, const struct cmdline *cl);
/* Free the text that a device's open() made: f_data of the file. */
void text_release(struct file *f);
/*
 * firmware.c: register /dev/firmware, which has firmware's tables for a report
 * on a board.  Once, at boot, after the tables were read.
 */
void firmware_init(const struct bootinfo *bi);

/*
 * quiet.c: the word quiet=, which holds the CPUs' clocks still for a run.
 * Apply the items (bits of QUIET_*) to all CPUs, and print a line.  A suite may
 * have a default.  Call it after the PICs' proof, without the kernel lock.
 */
void quiet_start(unsigned items, bool suite);
/* Restore what quiet_start() changed, and print a line.  Needs the lock. */
void quiet_end(void);
/* Append the member "quiet", and a comma; nothing without quiet=. */
void quiet_describe(struct text *t);
