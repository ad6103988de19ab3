/*
 * The runtime part of -fstack-protector-strong: the guard value and the report
 * of a smashed stack.
 */
#include "kern/platform/stack_guard.h"

#include "kern/platform/ksym.h"
#include "lib/printf.h"

uintptr_t __stack_chk_guard = 0x6b8f2c91d4e3a700;

void
__stack_chk_fail(void)
{
	uintptr_t offset, pc = (uintptr_t)__builtin_return_address(0);
	/* The call does not return, so the next function may begin at pc. */
	const char *name = ksym_lookup(pc - 1, &offset);

	panic("stack of %s was smashed, found at its end: pc %#lx (%s+%#lx)",
	    name, (unsigned long)pc, name, (unsigned long)offset + 1);
}
