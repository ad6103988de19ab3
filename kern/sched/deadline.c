/*
 * Converts a program's struct timespec to ticks.
 */
#include "kern/sched/deadline.h"

#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/sched/timer.h"

int
deadline_in(uintptr_t uva, bool absolute, uint64_t *deadline)
{
	int64_t ts[2];
	hrtime_t ns;

	*deadline = ~0ULL;
	if (uva == 0)
		return 0;
	if (copyin(ts, uva, sizeof ts) != 0)
		return EFAULT;
	if (ts[0] < 0 || ts[1] < 0 || ts[1] >= 1000000000)
		return EINVAL;
	ns = ts[0] > INT64_MAX / 2000000000 ? INT64_MAX
	                                    : ts[0] * 1000000000 + ts[1];
	*deadline = ns_to_tick(ns);
	if (!absolute &&
	    __builtin_add_overflow(*deadline, arch_tick(), deadline))
		*deadline = ~0ULL;
	return 0;
}
