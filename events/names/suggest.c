/* The name that a user may have meant by an unknown one. */
#include "events/events.h"
#include "events/names/text.h"
#include "events/nearer.h"

static size_t
part_len(const char *s)
{
	size_t n = 0;

	while (s[n] != '\0' && s[n] != ':' && s[n] != '.' && n < EVENT_LETTERS)
		n++;
	return n;
}

#define BEGIN_MIN 3 /* fewer letters begin too many names */

/* Does the name begin with these letters? */
static bool
begins_with(const char *s, size_t len, const char *name)
{
	size_t i = 0;

	while (i < len && event_upper(s[i]) == event_upper(name[i]))
		i++;
	return i == len && len >= BEGIN_MIN;
}

/*
 * The distance to a name if it is less than `best`, else `best`.  A name that
 * begins with the letters counts as one farther than the farthest near one.
 */
static unsigned
nearer_distance(const char *s, size_t len, const char *name, unsigned best)
{
	unsigned d = event_distance(s, len, name);

	if (d > event_near(len))
		d = begins_with(s, len, name) ? event_near(len) + 1 : best;
	return d < best ? d : best;
}

static const struct event_row *
nearest_row(const struct events *es, const char *name, size_t len)
{
	const struct event_row *row, *found = NULL;
	unsigned best = event_near(len) + 2, d;

	for (unsigned n = 0; n < es->es_pmu->ep_nrow; n++) {
		if ((row = events_nth_row(es, n)) == NULL)
			continue;
		d = nearer_distance(
		    name, len, events_text(es, row->er_name), best);
		if (d < best) {
			best = d;
			found = row;
		}
	}
	return found;
}

static const struct event_umask *
nearest_umask(const struct events *es, const struct event_row *row,
    const char *name, size_t len)
{
	const struct event_umask *um, *found = NULL;
	unsigned best = event_near(len) + 2, d;

	for (unsigned n = 0; n < row->er_nlist; n++) {
		if ((um = events_umask(es, row, n)) == NULL)
			continue;
		d = nearer_distance(
		    name, len, events_text(es, um->um_name), best);
		if (d < best) {
			best = d;
			found = um;
		}
	}
	return found;
}

/* The nearest preset that the PMU has. */
static bool
suggest_preset(
    const struct events *es, const char *name, char *buf, size_t size)
{
	unsigned n = 0, at = 0, found = 0, best = ~0U;

	for (; events_next_preset(es, &n, buf, size); at = n) {
		if (events_is_nearer(name, buf, &best))
			found = at;
	}
	return best != ~0U && events_next_preset(es, &found, buf, size);
}

bool
events_suggest(
    const struct events *es, const char *name, char *buf, size_t size)
{
	struct text te = { buf, size, 0 };
	const struct event_umask *um = NULL;
	const struct event_row *row;
	size_t len = part_len(name);

	if (es->es_pmu == NULL || len == 0)
		return false;
	if (events_is_preset(name))
		return suggest_preset(es, name, buf, size);
	if ((row = nearest_row(es, name, len)) == NULL)
		return false;
	if (name[len] != '\0')
		um = nearest_umask(
		    es, row, name + len + 1, part_len(name + len + 1));
	text_add(&te, events_text(es, row->er_name));
	if (um != NULL) {
		text_char(&te, ':');
		text_add(&te, events_text(es, um->um_name));
	}
	return text_end(&te) < size;
}
