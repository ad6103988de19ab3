#include "payloads/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
fail(int status, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", fail_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	if (status == 2)
		fprintf(stderr, "usage: %s %s\n", fail_name, fail_usage);
	exit(status);
}

long
fail_unless_number(
    const char *what, const char *text, long min, long max, const char *unit)
{
	char *end;
	long n = strtol(text, &end, 0);

	if (end == text || *end != '\0')
		fail(2, "%s: not a number: \"%s\"", what, text);
	if (n < min || n > max)
		fail(2, "%s: %s is not within %ld..%ld%s", what, text, min, max,
		    unit);
	return n;
}
