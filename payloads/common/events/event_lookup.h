/*
 * Events of a table, by any name that programs accept.  Included by encode.c,
 * list.c and fits.c.
 */
#pragma once

#include "events/events.h"

/* Find the register values of a name of the table, or of perf. */
enum event_error event_lookup(const struct events *es, const char *name,
    struct event_spec *sp, struct event_code *ec);
/* Print why event_lookup() refused a name. */
void event_lookup_refuse(
    const struct events *es, const char *name, enum event_error err);
