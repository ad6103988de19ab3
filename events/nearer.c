/*
 * The distance of two names, for suggestions.
 */
#include "events/nearer.h"

#include "events/text.h"

unsigned
event_distance(const char *a, size_t na, const char *b)
{
	unsigned row[EVENT_LETTERS + 1], left, above, best;
	size_t i, j;

	for (i = 0; i <= na; i++)
		row[i] = (unsigned)i;
	for (j = 0; b[j] != '\0'; j++) {
		above = row[0]++;
		for (i = 0; i < na; i++) {
			left = row[i + 1];
			best = above + (event_upper(a[i]) != event_upper(b[j]));
			if (left + 1 < best)
				best = left + 1;
			if (row[i] + 1 < best)
				best = row[i] + 1;
			row[i + 1] = best;
			above = left;
		}
	}
	return row[na];
}

unsigned
event_near(size_t letters)
{
	return letters < 6 ? 1 : (unsigned)letters / 4;
}

bool
events_is_nearer(const char *name, const char *other, unsigned *best)
{
	size_t len = 0;
	unsigned d;

	while (name[len] != '\0' && len < EVENT_LETTERS)
		len++;
	d = event_distance(name, len, other);
	if (len == 0 || d > event_near(len) || d >= *best)
		return false;
	*best = d;
	return true;
}
