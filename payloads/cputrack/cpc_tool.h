/*
 * The library, options and messages that cputrack and cpustat share.  Included
 * by them.
 */
#pragma once

#include <libcpc.h>
#include <stdbool.h>

#include "payloads/cputrack/event_spec.h"

#define TOOL_SPECS 32

/* The library, and the values of the options that both programs have. */
extern struct cpc_tool {
	cpc_t *cpc;
	struct spec *specs[TOOL_SPECS]; /* -c */
	unsigned nspecs;
	bool no_titles, ticks, debug; /* -n, -t, -D */
} tool;

/*
 * Set the usage text and open the library.  Fails with a message that says
 * that `what` cannot be accessed.
 */
void tool_open(const char *arguments, const char *what);

/* Take -c, -n, -t, -D or -h, and its value from getopt(3). */
void tool_option(int c);

/* A number within [0, max], and a whole one.  Refuses every other text. */
double tool_number(const char *text, double max);
unsigned tool_whole(const char *text);
/* Print that the argument is invalid, and the usage.  Ends with status 2. */
_Noreturn void tool_invalid(const char *text);

/* Print a message of libcpc or libpctx.  With -D the function is named, too. */
void tool_message(const char *fn, const char *fmt, va_list ap);
