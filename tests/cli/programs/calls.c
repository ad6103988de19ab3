/*
 * Makes a known number of system calls, so that tests/cli/tools/record.py can
 * profile the kernel.
 *
 *     calls OFTEN SELDOM TURNS
 *
 * often() calls getppid(2) OFTEN times, seldom() calls sched_yield(2) SELDOM
 * times, idle() makes TURNS turns of a loop of two instructions.
 */
#include <stdlib.h>
#include <sys/syscall.h>

#include "turns.h"

/* The system call without a function of the C library in between. */
static inline void
call_kernel(long number, long n)
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
	call_kernel(SYS_getppid, n);
}

static void __attribute__((noinline)) seldom(long n)
{
	call_kernel(SYS_sched_yield, n);
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
