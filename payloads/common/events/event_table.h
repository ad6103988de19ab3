/*
 * The table of event names that `--cpu` chooses.  Included by encode.c, list.c
 * and fits.c, which also run on the build machine.
 */
#pragma once

#include "events/events.h"

/*
 * Return the name that follows `--cpu`, or NULL.  The rest of the command line
 * starts at argv[optind]; `arguments` are for the usage line.  *cpus becomes
 * true if `--cpus` is there; a NULL pointer refuses it.
 */
const char *event_table_option(
    int argc, char **argv, const char *arguments, bool *cpus);
/*
 * The table of a CPU, or of the target (target.h) for NULL.  Ends the program
 * if there is no table.
 */
struct events event_table_choose(const char *cpu);

/* End the program if the table's file lacks what it refers to. */
void event_table_check(const struct events *es);

/* Print to stderr why a name is refused. */
void event_table_refuse(
    const struct events *es, const char *name, enum event_error err);

/* Names of the extra MSRs, by enum event_extra. */
extern const char *const event_table_extra_msr[];
