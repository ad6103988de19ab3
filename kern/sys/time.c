/* System calls on time. */
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/deadline.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"

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
#define CLOCK_TAI                11

/*
 * A negative number is a clock of a process or LWP: ~id << 3, with a bit for an
 * LWP and a kind below 3.  The id 0 is the caller's.  Linux, include/linux/
 * posix-timers.h (CPUCLOCK_PERTHREAD_MASK).
 */
#define CPUCLOCK_LWP  4
#define CPUCLOCK_KIND 3
#define CPUCLOCK_SELF (-8)

/* The ticks of a clock of CPU time.  Returns false if it is unknown. */
static bool
clock_ran(int clock, uint64_t *ticks)
{
	int id = ~(clock >> 3);
	const struct proc *p = id == 0 ? proc_self() : proc_find(id);
	const struct lwp *l = id == 0 ? lwp_self() : lwp_find(id);

	if ((clock & CPUCLOCK_KIND) == CPUCLOCK_KIND)
		return false;
	if (clock & CPUCLOCK_LWP ? l == NULL || l->l_proc != proc_self()
				 : p == NULL)
		return false;
	proc_account();
	*ticks = clock & CPUCLOCK_LWP ? sched_ran(l) : proc_ran(p);
	return true;
}

struct timespec {
	int64_t tv_sec, tv_nsec;
};

static struct timespec
to_timespec(hrtime_t ns)
{
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

/* The time of a clock in ns.  Returns false if there is no such clock. */
static bool
clock_ns(int clock, hrtime_t *ns)
{
	uint64_t ticks;

	if (clock == CLOCK_PROCESS_CPUTIME_ID ||
	    clock == CLOCK_THREAD_CPUTIME_ID)
		clock = CPUCLOCK_SELF |
		        (clock == CLOCK_THREAD_CPUTIME_ID ? CPUCLOCK_LWP : 0);
	if (clock < 0) {
		if (!clock_ran(clock, &ticks))
			return false;
		*ns = (hrtime_t)tick_to_ns(ticks);
		return true;
	}
	*ns = gethrtime();
	return clock <= CLOCK_BOOTTIME || clock == CLOCK_TAI;
}

intptr_t
sys_clock_gettime(const uintptr_t *a)
{
	hrtime_t ns;

	if (!clock_ns((int)a[0], &ns))
		return -EINVAL;
	struct timespec ts = to_timespec(ns);
	return -copyout(a[1], &ts, sizeof ts);
}

intptr_t
sys_clock_getres(const uintptr_t *a)
{
	hrtime_t ns = NS_PER_S / (hrtime_t)arch_tick_hz(), now;
	struct timespec ts = to_timespec(ns > 0 ? ns : 1);

	if (!clock_ns((int)a[0], &now))
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

	do
		err = waitq_sleep(&wq, deadline);
	while (err == EINTR && !sig_check(l));
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
	uint64_t deadline;
	int err;

	if (uva == 0)
		return -usercopy_fault(uva);
	if ((err = deadline_in(uva, absolute, &deadline)) != 0)
		return -err;
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
	hrtime_t now;

	if (!clock_ns((int)a[0], &now))
		return -EINVAL;
	if ((int)a[0] < 0 || a[0] == CLOCK_PROCESS_CPUTIME_ID ||
	    a[0] == CLOCK_THREAD_CPUTIME_ID)
		return -ENOTSUP;
	return sleep_timespec(a[2], a[1] & TIMER_ABSTIME, a[3]);
}
