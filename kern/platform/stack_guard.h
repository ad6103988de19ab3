/*
 * The guard value that the compiler puts above arrays on the stack and checks
 * before a function returns (-fstack-protector-strong).  Included by
 * kern/main.c.
 */
#pragma once

#include <stdint.h>

#include "kern/arch.h"

/* gcc(1), "-fstack-protector" and "-mstack-protector-guard=global". */
extern uintptr_t __stack_chk_guard;
_Noreturn void __stack_chk_fail(void);

/*
 * Choose another value for this boot.  Callers must not return: their frames
 * still hold the old value.
 */
static inline void
stack_guard_init(void)
{
	/* The lowest byte stays 0, so that no string copy can forge it. */
	__stack_chk_guard ^= arch_tick() << 8;
}
