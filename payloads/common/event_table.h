/*
 * The tables of event names, for programs that look names up for any CPU.
 * Included by encode.c, list.c and fits.c, which also run on the build machine.
 */
#ifndef PAYLOADS_COMMON_EVENT_TABLE_H
#define PAYLOADS_COMMON_EVENT_TABLE_H

#include "events/events.h"

/* names_image.c maps files of the archive, names_host.c reads build/events. */
const struct event_db *const *names_tables(void);
/* libpfm4's name of this machine's CPU, or NULL if no table exists for it. */
const char *names_cpu(void);

/*
 * Return the name that follows `--cpu`, or NULL.  The rest of the command line
 * starts at argv[optind]; `arguments` are for the usage line.
 */
const char *names_option(int argc, char **argv, const char *arguments);
/*
 * The table of a CPU, or of this machine for NULL.  Ends the program if there
 * is no table.
 */
struct events names_choose(const char *cpu);

/* Print to stderr why a name is refused. */
void names_refuse(
    const struct events *es, const char *name, enum event_error err);

/* Names of the extra MSRs, by enum event_extra. */
extern const char *const names_extra_msr[];

#endif /* PAYLOADS_COMMON_EVENT_TABLE_H */
