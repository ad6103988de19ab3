/*
 * perf's symbolic names of events, `cycles` and the like, as names of ours.
 * Included by programs that take events by name.
 */
#ifndef PAYLOADS_COMMON_PERF_NAMES_H
#define PAYLOADS_COMMON_PERF_NAMES_H

#include <libcpc.h>
#include <stdbool.h>
#include <stddef.h>

/* symbolic.c: the nth of them, NULL past the last. */
const char *symbolic_nth(unsigned n);
/* Is it one of them, perhaps with `:u` and `:k`? */
bool symbolic_is(const char *name);
/*
 * The nth name that it may have on a PMU, the first that is there being it;
 * with the levels it has, as strlcpy() would.  False past the last.
 */
bool symbolic_native(const char *name, unsigned n, char *buf, size_t size);
/* On Intel, where it is an architectural event: unit mask and event. */
unsigned symbolic_intel(const char *name);

/*
 * symbolic_request.c: as cpc_set_add_request(3CPC), of a name that may be
 * one of perf's.  The handle's errors are kept by detail_keep().
 */
int symbolic_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs);
/*
 * Is the event that was refused just now, here or by a bind of it alone, none
 * at all?  Then it is mistyped; perf's names, PAPI's presets and what the
 * table of this CPU has are events that this machine lacks.
 */
bool symbolic_mistyped(const char *event);

#endif /* PAYLOADS_COMMON_PERF_NAMES_H */
