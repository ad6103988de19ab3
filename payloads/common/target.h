/*
 * The machine that encode, list and fits answer for without `--cpu`: its CPU,
 * and the PMU that they ask for what no table has.  Included by those tools, by
 * event_table.c, and by tests of the image.
 *
 * target_image.c is for the image, whose target is the machine it runs on.
 * target_host.c is for the build machine, where there is no target.
 */
#pragma once

#include <stdbool.h>

#include "events/events.h"

/*
 * The tables of event names, ended by NULL: files of the image's archive, or of
 * build/events next to the program's folder.
 */
const struct event_db *const *target_tables(void);

/* libpfm4's name of the target's CPU, or NULL if no table exists for it. */
const char *target_cpu(void);

/*
 * Print the events that the target's backend knows without a table, with their
 * codes.  Only names in which matches() finds the pattern are printed.  Returns
 * their number, or -1 if the target has a table or no PMU.
 */
int target_list(bool (*matches)(const char *name, const char *pattern),
    const char *pattern);

/*
 * Print on which PICs of the target the listed events are counted together, or
 * why they are not.  The list is cut at its commas.  Returns main()'s result.
 */
int target_fits(char *list);
