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
static inline const uint8_t *
event_stands(const struct events *es, unsigned at)
{
	return (const uint8_t *)es->es_db->ed_at[SECTION_STANDS] + at;
}

static inline const uint8_t *
event_fill(const struct events *es, const struct event_row *row)
{
	return (const uint8_t *)es->es_db->ed_at[SECTION_FILLS] + row->er_fill;
}

/* The unit masks of a row. */
static inline const uint16_t *
event_list(const struct events *es, const struct event_row *row)
{
	return (const uint16_t *)es->es_db->ed_at[SECTION_LISTS] + row->er_list;
}

/* The nth of them, of whichever model it is. */
static inline const struct event_umask *
event_umask_at(const struct events *es, const struct event_row *row, unsigned n)
{
	return (const struct event_umask *)es->es_db->ed_at[SECTION_UMASKS] +
	       (event_list(es, row)[n] & LIST_UMASK);
}

#endif /* EVENTS_FIND_H */
