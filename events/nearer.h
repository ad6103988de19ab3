/*
 * How near two names are.  Included within events/, by kern/ for names of
 * files and words of the command line, and by programs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define EVENT_LETTERS 80 /* of a name are compared, at most */

/*
 * Is `other` near to the name, and nearer than *best letters?  Then *best
 * becomes its distance.  Set *best to ~0U before the first call.
 */
bool events_is_nearer(const char *name, const char *other, unsigned *best);
/*
 * How many edits make one name of the other: a letter changed, inserted,
 * deleted, or swapped with the next (optimal string alignment).
 */
unsigned event_distance(const char *a, size_t na, const char *b);
/* The distance up to which a word of so many letters is near. */
unsigned event_near(size_t letters);
