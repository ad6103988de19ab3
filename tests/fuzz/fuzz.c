/* Host versions of the kernel functions that parsers call. */
#include "tests/fuzz/fuzz.h"

_Noreturn void panic(const char *fmt, ...);
void arch_relax(void);
int fake_printf(const char *fmt, ...);
char *const arch_direct = NULL; /* physical memory is the host's memory */

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
fuzz_read_table(void *arg, const char *name, uint64_t pa,
    const unsigned char *bytes, size_t n)
{
	volatile unsigned char sum = 0;

	CHECK(pa != 0 && strnlen(name, 4) <= 4);
	for (size_t i = 0; i < n; i++)
		sum = (unsigned char)(sum + bytes[i]);
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

/* Format the line, so that the sanitizers check it, and discard it. */
int
fake_printf(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	return n;
}
