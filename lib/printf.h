/*
 * Formatted output without floating point.  Included by kern/, arch/, boot/.
 *
 * Conversions: d u x c s p %, flags - 0 #, width, precision of text, *, length
 * l ll z.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* Passes the text to put() piece by piece.  Returns its length. */
typedef void format_fn(void *arg, const char *s, size_t n);
int vformat(format_fn *put, void *arg, const char *fmt, va_list ap);

/* As in ISO C: returns the length that the whole text would have. */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap);
int snprintf(char *buf, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Print to the kernel's log (kern/platform/console.c). */
int printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print the message and a backtrace, and end the run as failed. */
_Noreturn void panic(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* For errors of our own code only.  Always compiled in. */
#define ASSERT(e)                                                              \
	((e) ? (void)0 : panic("%s:%d: ASSERT(%s)", __FILE__, __LINE__, #e))
