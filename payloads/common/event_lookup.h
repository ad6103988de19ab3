/*
 * Events of a table by any name that programs take.  Included by encode.c,
 * list.c and fits.c.
 */
#ifndef PAYLOADS_COMMON_EVENT_LOOKUP_H
#define PAYLOADS_COMMON_EVENT_LOOKUP_H

#include "events/events.h"

/* What the registers take for a name: the table's, or one of perf's. */
enum event_error lookup(const struct events *es, const char *name,
    struct event_spec *sp, struct event_code *ec);
/* The line of the program's that says why it is refused. */
void lookup_refuse(
    const struct events *es, const char *name, enum event_error err);

#endif /* PAYLOADS_COMMON_EVENT_LOOKUP_H */
