/*
 * Events of a table by any name that programs take.  Included by encode.c,
 * list.c and fits.c.
 */
#ifndef PAYLOADS_COMMON_EVENT_LOOKUP_H
#define PAYLOADS_COMMON_EVENT_LOOKUP_H

#include "events/events.h"

/* The register values of a name: the table's, or one of perf's. */
enum event_error lookup(const struct events *es, const char *name,
    struct event_spec *sp, struct event_code *ec);
/* Print the line that says why a name is refused. */
void lookup_refuse(
    const struct events *es, const char *name, enum event_error err);

#endif /* PAYLOADS_COMMON_EVENT_LOOKUP_H */
