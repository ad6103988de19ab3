/*
 * Watchdogs that firmware left running: what became of each, for the log and
 * for records.  Included by kern/ and arch/.
 */
#pragma once

struct text; /* lib/text.h */

/* From harmless to harmful. */
enum watchdog_state {
	WATCHDOG_IDLE,    /* it does not run, or cannot reset the machine */
	WATCHDOG_STOPPED, /* firmware left it running */
	WATCHDOG_UNKNOWN, /* its registers cannot be read */
	WATCHDOG_RUNNING, /* it cannot be stopped */
};

/* Note a watchdog, and print a line if it was not idle. */
void watchdog_found(const char *kind, enum watchdog_state state);

/*
 * Append the members "watchdog" and "watchdogs", each with a comma; nothing
 * without a watchdog.
 */
void watchdog_describe(struct text *t);
