/*
 * The pieces of the kernel that parsers call, as the targets provide them.
 */
#include "tests/fuzz/fuzz.h"

_Noreturn void panic(const char *fmt, ...);
void arch_relax(void);
int fake_printf(const char *fmt, ...);
char *const arch_direct = NULL; /* physical memory is the host's */

void *
fuzz_copy(const void *p, size_t n)
{
	void *copy = malloc(n);

	CHECK(copy != NULL || n == 0);
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
	abort();
}

/* Its lines are made, for the sanitizers, and not kept. */
int
fake_printf(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	return n;
}
