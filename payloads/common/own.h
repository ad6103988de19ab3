/*
 * The events of a CPU that no table is for: those its backend knows by itself.
 * Included by list.c, which also runs on the build machine.
 */
#ifndef PAYLOADS_COMMON_OWN_H
#define PAYLOADS_COMMON_OWN_H

#include <stdbool.h>

/*
 * own_here.c: print those that `has` finds the pattern in, each with its code;
 * how many they were, or -1 where this machine has a table or no PMU.
 * own_host.c, on the build machine, knows none: -1.
 */
int own_list(
    bool (*has)(const char *name, const char *pattern), const char *pattern);

#endif /* PAYLOADS_COMMON_OWN_H */
