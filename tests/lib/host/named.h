/* The library's result of a name for a backend's PMU.  For their tests. */
#pragma once

#include "events/machine.h"
#include "kern/cpc/pcbe.h"

/* The last refusal of configure() in a test of a backend. */
extern struct cpc_refusal named_refusal;

/* The machine and its CPU's table; each call overwrites the last. */
const struct machine *named_machine(const struct pcbe_ops *ops);
/* Resolve a name or a number.  Returns the PICs that count it; 0: none. */
uint64_t named_event(
    const struct pcbe_ops *ops, const char *name, struct cpc_event *ev);
/* The same, as if the CPU had no table. */
uint64_t named_own(
    const struct pcbe_ops *ops, const char *name, struct cpc_event *ev);
/* Resolve a code from the table. */
uint64_t named_code(const struct pcbe_ops *ops, const struct event_code *ec,
    struct cpc_event *ev);
/* The attribute of that name, or the test fails. */
enum cpc_attr_id named_attr(
    const struct pcbe_ops *ops, const char *name, size_t len);
