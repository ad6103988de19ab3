/*
 * How near two names are, whatever they name.  Included within events/, by
 * kern/ for names of files, and by programs.
 */
#ifndef EVENTS_NEARER_H
#define EVENTS_NEARER_H

#include <stdbool.h>
#include <stddef.h>

#define EVENT_LETTERS 80 /* that are looked at */

/*
 * May the other have been meant, and rather than one *best letters away?
 * *best, ~0U before the first, is then its own distance.
 */
bool events_is_nearer(const char *name, const char *other, unsigned *best);
/* How many letters must be changed, put in or left out (Levenshtein). */
unsigned event_distance(const char *a, size_t na, const char *b);
/* As many mistakes in so many letters as are still the same word. */
unsigned event_near(size_t letters);

#endif /* EVENTS_NEARER_H */
