/* arm64's vDSO, by Linux's names (vdso(7)).  Runs in programs; see vdso.ld. */
#define VDSO_FN(name)     __kernel_##name
#define SYS_clock_gettime 113
#define SYS_clock_getres  114

#include "kern/proc/vdso/clock.h"

/* Without the ISB the CPU may read the counter early. */
static inline uint64_t
vdso_tick(void)
{
	uint64_t tick;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(tick) : : "memory");
	return tick;
}

static inline long
vdso_syscall(long number, long a, long b)
{
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x8 __asm__("x8") = number;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
	return x0;
}

/*
 * A signal handler returns here.  Unwinders know a signal's frame by these two
 * instructions: libgcc, config/aarch64/linux-unwind.h.
 */
__asm__(".pushsection .sigreturn, \"ax\"\n"
	".globl __kernel_rt_sigreturn\n"
	".type __kernel_rt_sigreturn, %function\n"
	"__kernel_rt_sigreturn:\n"
	"	mov	x8, #139\n"
	"	svc	#0\n"
	".size __kernel_rt_sigreturn, . - __kernel_rt_sigreturn\n"
	".popsection");
