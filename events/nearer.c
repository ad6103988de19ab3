/* The distance of two names, for suggestions. */
#include "events/nearer.h"

#include "events/names/text.h"

/* Are two neighbouring letters of one name swapped in the other? */
static bool
is_swapped(const char *a, const char *b)
{
	return event_upper(a[0]) == event_upper(b[1]) &&
	       event_upper(a[1]) == event_upper(b[0]);
}

/* The distance where a[i] meets b[j], from the rows of b[j] and before. */
static unsigned
distance_here(unsigned (*rows)[EVENT_LETTERS + 1], const char *a, size_t i,
    const char *b, size_t j)
{
	const unsigned *row = rows[j % 3], *last = rows[(j + 2) % 3];
	unsigned best =
	    last[i] + (event_upper(a[i]) != event_upper(b[j]) ? 1 : 0);

	if (last[i + 1] + 1 < best)
		best = last[i + 1] + 1;
	if (row[i] + 1 < best)
		best = row[i] + 1;
	if (i > 0 && j > 0 && is_swapped(a + i - 1, b + j - 1) &&
	    rows[(j + 1) % 3][i - 1] + 1 < best)
		best = rows[(j + 1) % 3][i - 1] + 1;
	return best;
}

unsigned
event_distance(const char *a, size_t na, const char *b)
{
	unsigned rows[3][EVENT_LETTERS + 1]; /* that of b[j] is rows[j % 3] */
	size_t i, j;

	for (i = 0; i <= na; i++)
		rows[2][i] = (unsigned)i;
	for (j = 0; b[j] != '\0'; j++) {
		rows[j % 3][0] = (unsigned)j + 1;
		for (i = 0; i < na; i++)
			rows[j % 3][i + 1] = distance_here(rows, a, i, b, j);
	}
	return rows[(j + 2) % 3][na];
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

	while (name[len] != '\0' && len < EVENT_LETTERS)
		len++;
	unsigned d = event_distance(name, len, other);
	if (len == 0 || d > event_near(len) || d >= *best)
		return false;
	*best = d;
	return true;
}
