/*
 * The descriptions of a table's events, from the lines that `describe` prints.
 * Included by table_file.c.
 */
#ifndef EVENTS_MKTABLES_FILE_DESCRIPTIONS_H
#define EVENTS_MKTABLES_FILE_DESCRIPTIONS_H

#include "events/table.h"

/*
 * Add the sections of descriptions to a table.  They stay empty if the file
 * has no line about its events.
 */
void descriptions_add(struct event_db *db, const char *file);

#endif /* EVENTS_MKTABLES_FILE_DESCRIPTIONS_H */
