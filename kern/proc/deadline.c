/* Converts a program's struct timespec to ticks. */
#include "kern/proc/deadline.h"

#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"

int
timespec_ns(const int64_t ts[2], hrtime_t *ns)
{
	if (ts[0] < 0 || ts[1] < 0 || ts[1] >= 1000000000)
		return EINVAL;
	*ns = ts[0] > INT64_MAX / 2000000000 ? INT64_MAX
	                                     : ts[0] * 1000000000 + ts[1];
	return 0;
}

uint64_t
deadline_tick(hrtime_t ns, bool absolute)
{
	uint64_t tick = ns_to_tick(ns);

	if (!absolute && __builtin_add_overflow(tick, arch_tick(), &tick))
		tick = ~0ULL;
	return tick;
}

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
	if (timespec_ns(ts, &ns) != 0)
		return EINVAL;
	*deadline = deadline_tick(ns, absolute);
	return 0;
}
