/*
 * The tables of event names, for programs that look names up for any CPU.
 * Included by encode.c, list.c and fits.c, which also run on the build machine.
 */
#ifndef PAYLOADS_COMMON_EVENT_TABLE_H
#define PAYLOADS_COMMON_EVENT_TABLE_H

#include "events/events.h"

/* names_image.c asks the kernel, names_host.c has them linked in. */
const struct event_db *const *names_tables(void);
/* libpfm4's name of this machine's CPU, or NULL where that has no table. */
const char *names_cpu(void);

/*
 * names.c: the name behind `--cpu`, or NULL.  What is left of the command line
 * starts at argv[optind]; `arguments` are for the usage line.
 */
const char *names_option(int argc, char **argv, const char *arguments);
/* That CPU's table, of NULL this machine's; ends the program without one. */
struct events names_choose(const char *cpu);

/* Say why a name is none, on stderr. */
void names_refuse(
    const struct events *es, const char *name, enum event_error err);

/* What the register beside the event select is called: by enum event_extra. */
extern const char *const names_extra_msr[];

#endif /* PAYLOADS_COMMON_EVENT_TABLE_H */
