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
