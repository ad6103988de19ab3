/*
 * perf's symbolic names of events (`cycles`), and the names that tables and
 * backends have for them.  Included by programs that take events by name.
 */
#pragma once

#include <libcpc.h>
#include <stdbool.h>
#include <stddef.h>

/* perf_names.c: the nth name, or NULL past the last. */
const char *perf_name_nth(unsigned n);
/* Is this a name of perf, perhaps with `:u` and `:k`? */
bool perf_name_is(const char *name);
/*
 * Put the nth name that the event may have on a PMU, with its levels, into
 * buf.  The first of these names that a PMU has is the event.  Returns false
 * past the last.
 */
bool perf_name_native(const char *name, unsigned n, char *buf, size_t size);
/* A hint for a form of perf or libpfm4 that is not taken here, or NULL. */
const char *perf_name_hint(const char *name);
/* Unit mask and event select of the name on Intel, or 0. */
unsigned perf_name_intel(const char *name);

/*
 * perf_request.c: cpc_set_add_request(3CPC) for a name that may be perf's.
 * Call cpc_error_keep() for the handle first.
 */
int perf_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs);
/*
 * Is the event that was refused last unknown, rather than one that this machine
 * lacks?  It was refused by perf_add_request() or by a bind of it alone.  Names
 * of perf, PAPI's presets and names of this CPU's table are known.
 */
bool perf_name_mistyped(const char *event);
