/*
 * System calls on the time that programs used.  The kernel does not tell its
 * own time from a program's: all is user time.
 */
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"

#define AT_CLKTCK_PER_S 100
#define RUSAGE_SELF     0
#define RUSAGE_CHILDREN (-1)
#define RUSAGE_THREAD   1
#define USAGE_WORDS     18 /* of Linux's struct rusage */
#define USAGE_MAX_RSS   4

static int
copyout_usage(uintptr_t uva, uint64_t ticks, size_t pages)
{
	uint64_t ns = tick_to_ns(ticks);
	int64_t usage[USAGE_WORDS] = { (int64_t)(ns / NS_PER_S),
		(int64_t)(ns % NS_PER_S / 1000) };

	usage[USAGE_MAX_RSS] = (int64_t)(pages * PAGE_SIZE >> 10);
	return copyout(uva, usage, sizeof usage);
}

int
usage_copyout(uintptr_t uva, const struct proc *child)
{
	uint64_t ticks =
	    child != NULL ? proc_ran(child) + child->p_children_ran : 0;

	return uva != 0 ? copyout_usage(uva, ticks, 0) : 0;
}

intptr_t
sys_getrusage(const uintptr_t *a)
{
	const struct proc *p = proc_self();
	size_t pages = p->p_as->as_npages;

	proc_account();
	switch ((int)a[0]) {
	case RUSAGE_SELF:
		return -copyout_usage(a[1], proc_ran(p), pages);
	case RUSAGE_THREAD:
		return -copyout_usage(a[1], sched_ran(lwp_self()), pages);
	case RUSAGE_CHILDREN:
		return -copyout_usage(a[1], p->p_children_ran, 0);
	default:
		return -EINVAL;
	}
}

/* In units of AT_CLKTCK. */
static int64_t
to_clock(uint64_t ticks)
{
	return (int64_t)(tick_to_ns(ticks) / (NS_PER_S / AT_CLKTCK_PER_S));
}

intptr_t
sys_times(const uintptr_t *a)
{
	const struct proc *p = proc_self();
	int64_t now = gethrtime() / (hrtime_t)(NS_PER_S / AT_CLKTCK_PER_S);
	int64_t tms[4] = { 0 };

	proc_account();
	tms[0] = to_clock(proc_ran(p));
	tms[2] = to_clock(p->p_children_ran);
	if (a[0] != 0 && copyout(a[0], tms, sizeof tms) != 0)
		return -EFAULT;
	return now;
}
