#include "kern/mm/usercopy.h"

#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/fault.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"

static int
note(int err, uintptr_t uva)
{
	if (err == EFAULT && !proc_self()->p_said_efault)
		fault_hostile_pointer(lwp_self()->l_tf, uva);
	return err;
}

int
copy_refuse(uintptr_t uva)
{
	return note(EFAULT, uva);
}

int
copyin(void *dst, uintptr_t uva, size_t len)
{
	return note(arch_copyin(dst, uva, len), uva);
}

int
copyout(uintptr_t uva, const void *src, size_t len)
{
	return note(arch_copyout(uva, src, len), uva);
}

int
copyinstr(char *dst, uintptr_t uva, size_t max)
{
	return note(arch_copyinstr(dst, uva, max), uva);
}

int
copyzero(uintptr_t uva, size_t len)
{
	static const char zeros[1024];

	while (len > 0) {
		size_t n = len < sizeof zeros ? len : sizeof zeros;
		int err = copyout(uva, zeros, n);

		if (err != 0)
			return err;
		uva += n;
		len -= n;
	}
	return 0;
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
