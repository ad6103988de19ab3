/*
 * Events that a backend knows without a table.  Included by list.c, which also
 * runs on the build machine.
 */
#ifndef PAYLOADS_COMMON_OWN_H
#define PAYLOADS_COMMON_OWN_H

#include <stdbool.h>

/*
 * own_here.c: print the events in whose name `has` finds the pattern, with
 * their codes.  Returns their number, or -1 if this machine has a table or no
 * PMU.  own_host.c, on the build machine, returns -1.
 */
int own_list(
    bool (*has)(const char *name, const char *pattern), const char *pattern);

#endif /* PAYLOADS_COMMON_OWN_H */
