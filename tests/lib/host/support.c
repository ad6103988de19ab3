/* Host versions of kernel functions that many parts call. */

#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void panic(const char *fmt, ...);
void arch_relax(void);

void *
exact_copy(const void *p, size_t n)
{
	void *copy = malloc(n);

	assert_true(copy != NULL || n == 0);
	if (n > 0)
		memcpy(copy, p, n);
	return copy;
}

void
panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

void (*fake_on_relax)(void);

void
arch_relax(void)
{
	if (fake_on_relax != NULL)
		fake_on_relax();
}
