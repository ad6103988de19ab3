/* Rows of the tables by the key of a name.  Included within events/. */
#pragma once

#include "events/names/key.h"

/* As events_row() and events_umask_find(). */
const struct event_row *event_row_find(
    const struct events *es, const struct event_key *key);
int event_umask_find(const struct events *es, const struct event_row *row,
    const struct event_key *key);
/* The nth row of the table, whether or not the PMU has it. */
const struct event_row *event_row_at(const struct events *es, unsigned n);

/* An alias, and the defaults of a row: see events/table.h. */
static inline const uint8_t *
event_alias(const struct events *es, unsigned at)
{
	return (const uint8_t *)es->es_db->ed_at[SECTION_ALIASES] + at;
}

static inline const uint8_t *
event_defaults(const struct events *es, const struct event_row *row)
{
	return (const uint8_t *)es->es_db->ed_at[SECTION_DEFAULTS] +
	       row->er_defaults;
}

/* The unit masks of a row. */
static inline const uint16_t *
event_list(const struct events *es, const struct event_row *row)
{
	return (const uint16_t *)es->es_db->ed_at[SECTION_LISTS] + row->er_list;
}

/* The nth unit mask of a row, whether or not the PMU has it. */
static inline const struct event_umask *
event_umask_at(const struct events *es, const struct event_row *row, unsigned n)
{
	return (const struct event_umask *)es->es_db->ed_at[SECTION_UMASKS] +
	       (event_list(es, row)[n] & LIST_UMASK);
}
