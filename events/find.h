/*
 * Rows of the tables by what has been read of a name.  Included within
 * events/.
 */
#ifndef EVENTS_FIND_H
#define EVENTS_FIND_H

#include "events/key.h"

/* As events_row() and events_umask_find(). */
const struct event_row *event_row_find(
    const struct events *es, const struct event_key *key);
int event_umask_find(const struct events *es, const struct event_row *row,
    const struct event_key *key);
/* The nth row of the PMU's table, of whichever model it is. */
const struct event_row *event_row_at(const struct events *es, unsigned n);
/* What a name stands for; what a row's groups take: see events/table.h. */
const uint8_t *event_stands(const struct events *es, unsigned at);
const uint8_t *event_fill(const struct events *es, const struct event_row *row);

/* The nth unit mask of a row, of whichever model it is. */
static inline const struct event_umask *
event_umask_at(const struct events *es, const struct event_row *row, unsigned n)
{
	const uint16_t *lists = es->es_db->ed_at[SECTION_LISTS];

	return (const struct event_umask *)es->es_db->ed_at[SECTION_UMASKS] +
	       (lists[row->er_list + n] & LIST_UMASK);
}

#endif /* EVENTS_FIND_H */
