/*
 * The value below which the compiler puts arrays on the stack, and looks
 * whether it is still there (-fstack-protector-strong).  Included by
 * kern/main.c.
 */
#ifndef KERN_PLATFORM_STACK_GUARD_H
#define KERN_PLATFORM_STACK_GUARD_H

#include <stdint.h>

#include "kern/arch.h"

/* gcc(1), "-fstack-protector" and "-mstack-protector-guard=global". */
extern uintptr_t __stack_chk_guard;
_Noreturn void __stack_chk_fail(void);

/*
 * Choose another value for this boot.  Only functions that do not return may
 * be active: their copy is the old one.
 */
static inline void
stack_guard_init(void)
{
	/* The lowest byte is 0: no string copy writes it and goes on. */
	__stack_chk_guard ^= arch_tick() << 8;
}

#endif /* KERN_PLATFORM_STACK_GUARD_H */
