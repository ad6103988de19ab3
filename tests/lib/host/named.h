/*
 * Events by name, as the library makes them of what a backend says of its
 * PMU.  Included by tests of backends.
 */
#ifndef TESTS_LIB_HOST_NAMED_H
#define TESTS_LIB_HOST_NAMED_H

#include "events/machine.h"
#include "kern/cpc/pcbe.h"

/* The machine, with the table of its CPU; the same place each time. */
const struct machine *named_machine(const struct pcbe_ops *ops);
/* Of a name or a number; the PICs that count it, 0: none. */
uint64_t named_event(
    const struct pcbe_ops *ops, const char *name, struct pcbe_event *ev);
/* The same where the CPU has no table. */
uint64_t named_own(
    const struct pcbe_ops *ops, const char *name, struct pcbe_event *ev);
/* What the table's code of an event comes to. */
uint64_t named_code(const struct pcbe_ops *ops, const struct event_code *ec,
    struct pcbe_event *ev);
/* The attribute of that name, which the backend takes. */
enum cpc_attr_id named_attr(
    const struct pcbe_ops *ops, const char *name, size_t len);

#endif /* TESTS_LIB_HOST_NAMED_H */
