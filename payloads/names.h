/*
 * The tables of event names, for programs that look names up for any CPU.
 * Included by encode.c, list.c and fits.c, which also run on the build machine.
 */
#ifndef PAYLOADS_NAMES_H
#define PAYLOADS_NAMES_H

#include "events/events.h"

/* names_image.c asks the kernel, names_host.c has them linked in. */
const struct event_db *const *names_tables(void);
/* libpfm4's name of this machine's CPU, or NULL where that has no table. */
const char *names_cpu(void);

/*
 * names.c: take `--cpu NAME` off the command line; *argc and argv are what is
 * left.  Ends the program with a line of what is wrong.
 */
struct events names_choose(int *argc, char **argv, const char *usage);

/* Say why a name is none, on stderr, with the program's name before it. */
void names_refuse(const struct events *es, const char *program,
    const char *name, enum event_error err);

/* What the register beside the event select is called: by enum event_extra. */
extern const char *const names_beside[];

#endif /* PAYLOADS_NAMES_H */
