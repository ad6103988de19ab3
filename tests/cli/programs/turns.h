/* A loop of two instructions a turn, for programs compiled separately. */
#pragma once

static inline void
make_turns(long turns)
{
#ifdef __x86_64__
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns) : : "cc");
#else
	__asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(turns) : : "cc");
#endif
}
