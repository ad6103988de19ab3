/*
 * The tables that are linked into a program of the build machine.  An entry
 * is NULL if that vendor's table is not linked.
 */
#include "events/table.h"

extern const struct event_db events_intel __attribute__((weak));
extern const struct event_db events_amd __attribute__((weak));
extern const struct event_db events_arm __attribute__((weak));

const struct event_db *const event_dbs[EVENT_VENDORS] = { &events_intel,
	&events_amd, &events_arm };
