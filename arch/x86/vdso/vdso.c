/* x86-64's vDSO, by Linux's names (vdso(7)).  Runs in programs; see vdso.ld. */
#define VDSO_FN(name)     __vdso_##name
#define SYS_clock_gettime 228
#define SYS_clock_getres  229

#include "kern/proc/vdso/clock.h"

/* LFENCE: RDTSC waits for what is before it.  Intel SDM vol. 2B, "RDTSC". */
static inline uint64_t
vdso_tick(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline long
vdso_syscall(long number, long a, long b)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b)
			 : "rcx", "r11", "memory");
	return ret;
}

int64_t VDSO_FN(time)(int64_t *t);

int64_t
VDSO_FN(time)(int64_t *t)
{
	int64_t s = (int64_t)(vdso_ns() / NS_PER_S);

	if (t != NULL)
		*t = s;
	return s;
}
