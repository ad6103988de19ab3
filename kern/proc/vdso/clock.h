/*
 * The functions of the vDSO, which read the clock without a system call.
 * Included by vdso.c of each machine, which defines VDSO_FN(), their names, the
 * numbers of two calls, vdso_tick() and vdso_syscall().
 *
 * Its clocks start at power-on (kern/sys/time.c).  The CPU time of a process or
 * a thread is known to the kernel only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kern/proc/vdso/vdso.h"

#define NS_PER_S                 1000000000
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID  3
#define CLOCK_LAST               7 /* CLOCK_BOOTTIME */

/* Linux's structures. */
struct timespec {
	int64_t tv_sec, tv_nsec;
};
struct timeval {
	int64_t tv_sec, tv_usec;
};
struct timezone {
	int32_t tz_minuteswest, tz_dsttime;
};

/* The linker script places it one page below the code. */
extern const struct vdso_data vdso_data __attribute__((visibility("hidden")));

static uint64_t vdso_tick(void);
static long vdso_syscall(long number, long a, long b);

static inline uint64_t
vdso_ns(void)
{
	unsigned __int128 lifted = vdso_tick() << vdso_data.vd_lift;

	return (uint64_t)(lifted * vdso_data.vd_mult >> 64);
}

int VDSO_FN(clock_gettime)(int clock, struct timespec *ts);
int VDSO_FN(clock_getres)(int clock, struct timespec *ts);
int VDSO_FN(gettimeofday)(struct timeval *tv, struct timezone *tz);

int
VDSO_FN(clock_gettime)(int clock, struct timespec *ts)
{
	uint64_t ns;

	if ((unsigned)clock > CLOCK_LAST || clock == CLOCK_PROCESS_CPUTIME_ID ||
	    clock == CLOCK_THREAD_CPUTIME_ID)
		return (int)vdso_syscall(SYS_clock_gettime, clock, (long)ts);
	ns = vdso_ns();
	ts->tv_sec = (int64_t)(ns / NS_PER_S);
	ts->tv_nsec = (int64_t)(ns % NS_PER_S);
	return 0;
}

int
VDSO_FN(clock_getres)(int clock, struct timespec *ts)
{
	if ((unsigned)clock > CLOCK_LAST)
		return (int)vdso_syscall(SYS_clock_getres, clock, (long)ts);
	if (ts != NULL) {
		ts->tv_sec = 0;
		ts->tv_nsec = (int64_t)vdso_data.vd_resolution;
	}
	return 0;
}

int
VDSO_FN(gettimeofday)(struct timeval *tv, struct timezone *tz)
{
	uint64_t ns;

	if (tv != NULL) {
		ns = vdso_ns();
		tv->tv_sec = (int64_t)(ns / NS_PER_S);
		tv->tv_usec = (int64_t)(ns % NS_PER_S / 1000);
	}
	if (tz != NULL)
		*tz = (struct timezone){ 0, 0 };
	return 0;
}
