/*
 * Formatted output without floating point.  Included by kern/, arch/, boot/.
 *
 * Conversions: d i u x X o c s p %, flags - 0 + space #, width, precision,
 * *, length hh h l ll z j t.
 */
#ifndef LIB_PRINTF_H
#define LIB_PRINTF_H

#include <stdarg.h>
#include <stddef.h>

/* Hand the text to put() piece by piece; returns the length of it all. */
typedef void format_fn(void *arg, const char *s, size_t n);
int vformat(format_fn *put, void *arg, const char *fmt, va_list ap);

/* As in ISO C: returns the length the text would have had. */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap);
int snprintf(char *buf, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* To the kernel's console log (kern/platform/console.c provides it in the
 * kernel). */
int printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print the message, the place and a backtrace; end the run as failed. */
_Noreturn void panic(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* For what only our own mistake can cause; always compiled in. */
#define ASSERT(e)                                                              \
	((e) ? (void)0 : panic("%s:%d: ASSERT(%s)", __FILE__, __LINE__, #e))

#endif /* LIB_PRINTF_H */
