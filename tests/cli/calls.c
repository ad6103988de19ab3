/*
 * A program that asks the kernel for known numbers of things:
 * tests/cli/record.py profiles the kernel by it.
 *
 *	calls often seldom turns
 *
 * often() makes so many calls of getppid(2), seldom() so many of
 * sched_yield(2), idle() so many turns of a loop of two instructions.
 */
#include <stdlib.h>
#include <sys/syscall.h>

#include "turns.h"

/* No call of the C library's lies between function and kernel. */
static inline void
calls(long number, long n)
{
	while (n-- > 0) {
#ifdef __x86_64__
		long r = number;

		__asm__ volatile("syscall"
				 : "+a"(r)
				 :
				 : "rcx", "r11", "memory");
#else
		register long x8 __asm__("x8") = number;
		register long x0 __asm__("x0");

		__asm__ volatile("svc #0" : "=r"(x0) : "r"(x8) : "memory");
#endif
	}
}

static void __attribute__((noinline)) often(long n)
{
	calls(SYS_getppid, n);
}

static void __attribute__((noinline)) seldom(long n)
{
	calls(SYS_sched_yield, n);
}

static void __attribute__((noinline)) idle(long turns)
{
	make_turns(turns);
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	often(atol(argv[1]));
	seldom(atol(argv[2]));
	idle(atol(argv[3]));
	return 0;
}
