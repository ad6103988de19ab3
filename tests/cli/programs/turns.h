/* A loop of two instructions a turn, for programs compiled separately. */
#ifndef TESTS_CLI_PROGRAMS_TURNS_H
#define TESTS_CLI_PROGRAMS_TURNS_H

static inline void
make_turns(long turns)
{
#ifdef __x86_64__
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns) : : "cc");
#else
	__asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(turns) : : "cc");
#endif
}

#endif /* TESTS_CLI_PROGRAMS_TURNS_H */
