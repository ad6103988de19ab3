/* Parts of a kernel for the parsers of the arm64 machine's tables. */
#include "tests/lib/host/machine.h"

#include <stdio.h>
#include <string.h>

char *const arch_direct = NULL;
char machine_said[4096];

int fake_printf(const char *fmt, ...);

int
fake_printf(const char *fmt, ...)
{
	size_t n = strlen(machine_said);
	va_list ap;

	va_start(ap, fmt);
	int got = vsnprintf(machine_said + n, sizeof machine_said - n, fmt, ap);
	va_end(ap);
	return got;
}

void
machine_reset(void)
{
	memset(&machine, 0, sizeof machine);
	memset(machine_said, 0, sizeof machine_said);
}

uint64_t
machine_pa(const void *p)
{
	return (uintptr_t)p;
}
