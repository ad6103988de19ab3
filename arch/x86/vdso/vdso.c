/*
 * The vDSO of x86-64, by Linux's names (vdso(7)).  It runs in programs, and is
 * linked by vdso.ld.
 */
#include "kern/proc/vdso/clock.h"

#define SYS_clock_gettime 228
#define SYS_clock_getres  229

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

int __vdso_clock_gettime(int clock, struct timespec *ts);
int __vdso_clock_getres(int clock, struct timespec *ts);
int __vdso_gettimeofday(struct timeval *tv, struct timezone *tz);
int64_t __vdso_time(int64_t *t);

int
__vdso_clock_gettime(int clock, struct timespec *ts)
{
	return vdso_clock_gettime(SYS_clock_gettime, clock, ts);
}

int
__vdso_clock_getres(int clock, struct timespec *ts)
{
	return vdso_clock_getres(SYS_clock_getres, clock, ts);
}

int
__vdso_gettimeofday(struct timeval *tv, struct timezone *tz)
{
	return vdso_gettimeofday(tv, tz);
}

int64_t
__vdso_time(int64_t *t)
{
	int64_t s = (int64_t)(vdso_ns() / NS_PER_S);

	if (t != NULL)
		*t = s;
	return s;
}
