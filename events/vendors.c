/*
 * The tables that are linked in: a vendor's that is left out is NULL.
 */
#include "events/table.h"

extern const struct event_db events_intel __attribute__((weak));
extern const struct event_db events_amd __attribute__((weak));
extern const struct event_db events_arm __attribute__((weak));

const struct event_db *const event_dbs[EVENT_VENDORS] = { &events_intel,
	&events_amd, &events_arm };
