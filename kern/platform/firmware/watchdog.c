/* Notes the machine's watchdogs: a running one would reset it during a run. */
#include "kern/platform/firmware/watchdog.h"

#include <stddef.h>

#include "lib/printf.h"
#include "lib/text.h"

#define MAX_FOUND 8

static struct {
	const char *kind;
	enum watchdog_state state;
} found[MAX_FOUND];
static unsigned nfound;

static const struct {
	const char *name, *line;
} states[] = {
	[WATCHDOG_IDLE] = { "idle", NULL },
	[WATCHDOG_STOPPED] = { "stopped", "firmware left it running: stopped" },
	[WATCHDOG_UNKNOWN] = { "unknown",
	    "its state cannot be read: if the machine resets, turn it off in "
	    "firmware" },
	[WATCHDOG_RUNNING] = { "running",
	    "it runs and cannot be stopped: turn it off in firmware" },
};

void
watchdog_found(const char *kind, enum watchdog_state state)
{
	if (states[state].line != NULL)
		printf("watchdog: %s: %s\n", kind, states[state].line);
	if (nfound == MAX_FOUND)
		return;
	found[nfound].kind = kind;
	found[nfound++].state = state;
}

void
watchdog_describe(struct text *t)
{
	enum watchdog_state worst = WATCHDOG_IDLE;

	if (nfound == 0)
		return;
	for (unsigned i = 0; i < nfound; i++) {
		if (found[i].state > worst)
			worst = found[i].state;
	}
	text_add(t, "\"watchdog\":\"%s\",\"watchdogs\":[", states[worst].name);
	for (unsigned i = 0; i < nfound; i++)
		text_add(t, "%s{\"kind\":\"%s\",\"state\":\"%s\"}",
		    i != 0 ? "," : "", found[i].kind,
		    states[found[i].state].name);
	text_add(t, "],");
}
