/*
 * A program that makes the same system call 300,000 times, three of four in
 * often() and one in seldom(): tests/cli/record.py profiles the kernel by it.
 */
#include <sys/syscall.h>

#define CALLS 75000

/* No call of the C library's lies between function and kernel. */
static inline void
calls(long n)
{
	while (n-- > 0) {
#ifdef __x86_64__
		long r = SYS_getppid;

		__asm__ volatile("syscall"
				 : "+a"(r)
				 :
				 : "rcx", "r11", "memory");
#else
		register long x8 __asm__("x8") = SYS_getppid;
		register long x0 __asm__("x0");

		__asm__ volatile("svc #0" : "=r"(x0) : "r"(x8) : "memory");
#endif
	}
}

static void __attribute__((noinline)) often(void)
{
	calls(3 * CALLS);
}

static void __attribute__((noinline)) seldom(void)
{
	calls(CALLS);
}

int
main(void)
{
	often();
	seldom();
	return 0;
}
