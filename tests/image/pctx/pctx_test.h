/* A controlled process and the log of its events, for this folder. */
#pragma once

#include <libcpc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/image/cpc_test.h"

/* The events of the last run, each followed by a blank: "init1 tick1 ". */
static char event_log[1024];

static void __attribute__((unused, format(printf, 1, 2)))
event_note(const char *fmt, ...)
{
	size_t n = strlen(event_log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(event_log + n, sizeof event_log - n, fmt, ap);
	va_end(ap);
}

#define EXPECT_LOG(want)                                                       \
	do {                                                                   \
		if (!EXPECT(strcmp(event_log, (want)) == 0))                   \
			test_note("the events: %s", event_log);                \
		event_log[0] = '\0';                                           \
	} while (0)

/* The last message of libpctx. */
static char pctx_message[256];

static void __attribute__((unused))
pctx_record(const char *fn, const char *fmt, va_list ap)
{
	int n = snprintf(pctx_message, sizeof pctx_message, "%s: ", fn);

	vsnprintf(pctx_message + n, sizeof pctx_message - (size_t)n, fmt, ap);
}

/* Create pctx_target with up to three arguments. */
static inline pctx_t *
target(const char *what, const char *more, const char *most)
{
	char *argv[] = { "pctx_target", (char *)what, (char *)more,
		(char *)most, NULL };

	return pctx_create("pctx_target", argv, NULL, 0, pctx_record);
}
