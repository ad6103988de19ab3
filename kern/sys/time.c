/*
 * System calls on time.
 */
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"

#define NS_PER_S      1000000000LL
#define TIMER_ABSTIME 1

/*
 * No machine is asked for the time of day.  The clocks of time that passes
 * start at power-on, so that two runs see the same times.
 */
#define CLOCK_REALTIME           0
#define CLOCK_MONOTONIC          1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID  3
#define CLOCK_BOOTTIME           7

static bool
clock_known(uintptr_t clock)
{
	return clock <= CLOCK_BOOTTIME;
}

struct timespec {
	int64_t tv_sec;
	int64_t tv_nsec;
};

static struct timespec
to_timespec(hrtime_t ns)
{
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

static hrtime_t
clock_ns(uintptr_t clock)
{
	switch (clock) {
	case CLOCK_PROCESS_CPUTIME_ID:
		proc_account();
		return (hrtime_t)tick_to_ns(proc_ran(proc_self()));
	case CLOCK_THREAD_CPUTIME_ID:
		proc_account();
		return (hrtime_t)tick_to_ns(sched_ran(lwp_self()));
	default:
		return gethrtime();
	}
}

intptr_t
sys_clock_gettime(const uintptr_t *a)
{
	struct timespec ts;

	if (!clock_known(a[0]))
		return -EINVAL;
	ts = to_timespec(clock_ns(a[0]));
	return -copyout(a[1], &ts, sizeof ts);
}

intptr_t
sys_clock_getres(const uintptr_t *a)
{
	hrtime_t ns = NS_PER_S / (hrtime_t)arch_tick_hz();
	struct timespec ts = to_timespec(ns > 0 ? ns : 1);

	if (!clock_known(a[0]))
		return -EINVAL;
	return a[1] == 0 ? 0 : -copyout(a[1], &ts, sizeof ts);
}

intptr_t
sys_gettimeofday(const uintptr_t *a)
{
	struct timespec ts = to_timespec(gethrtime());
	int64_t tv[2] = { ts.tv_sec, ts.tv_nsec / 1000 };
	int32_t zone[2] = { 0, 0 };

	if (a[0] != 0 && copyout(a[0], tv, sizeof tv) != 0)
		return -EFAULT;
	if (a[1] != 0 && copyout(a[1], zone, sizeof zone) != 0)
		return -EFAULT;
	return 0;
}

intptr_t
sys_time(const uintptr_t *a)
{
	int64_t s = gethrtime() / NS_PER_S;

	if (a[0] != 0 && copyout(a[0], &s, sizeof s) != 0)
		return -EFAULT;
	return s;
}

/* Returns 0, or EINTR if a signal came first. */
static int
sleep_until(uint64_t deadline)
{
	struct lwp *l = lwp_self();
	struct waitq wq = { 0 };
	int err;

	do {
		lock_acquire(&wq.wq_lock);
		err = waitq_sleep(&wq, deadline);
		lock_release(&wq.wq_lock);
	} while (err == EINTR && !sig_check(l));
	return err == ETIMEDOUT ? 0 : err;
}

/* Store the rest of an interrupted relative sleep. */
static intptr_t
sleep_interrupted(uintptr_t left_uva, uint64_t deadline)
{
	uint64_t now = arch_tick();
	struct timespec ts =
	    to_timespec(deadline > now ? tick_to_ns(deadline - now) : 0);

	if (left_uva != 0 && copyout(left_uva, &ts, sizeof ts) != 0)
		return -EFAULT;
	return -EINTR;
}

static intptr_t
sleep_timespec(uintptr_t uva, bool absolute, uintptr_t left_uva)
{
	struct timespec ts;
	uint64_t ticks, deadline;

	if (copyin(&ts, uva, sizeof ts) != 0)
		return -EFAULT;
	if (ts.tv_sec < 0 || ts.tv_nsec < 0 || ts.tv_nsec >= NS_PER_S)
		return -EINVAL;
	ticks = ts.tv_sec > INT64_MAX / NS_PER_S - 1
	            ? ~0ULL
	            : ns_to_tick(ts.tv_sec * NS_PER_S + ts.tv_nsec);
	if (absolute || __builtin_add_overflow(ticks, arch_tick(), &deadline))
		deadline = ticks;
	if (sleep_until(deadline) == 0)
		return 0;
	return sleep_interrupted(absolute ? 0 : left_uva, deadline);
}

intptr_t
sys_nanosleep(const uintptr_t *a)
{
	return sleep_timespec(a[0], false, a[1]);
}

intptr_t
sys_clock_nanosleep(const uintptr_t *a)
{
	if (!clock_known(a[0]) || a[0] == CLOCK_THREAD_CPUTIME_ID)
		return -EINVAL;
	if (a[0] == CLOCK_PROCESS_CPUTIME_ID)
		return -ENOTSUP;
	return sleep_timespec(a[2], a[1] & TIMER_ABSTIME, a[3]);
}
