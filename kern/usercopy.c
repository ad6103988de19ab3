#include "kern/usercopy.h"

#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/fault.h"
#include "kern/lwp.h"
#include "kern/proc.h"

static int
note(int err, uintptr_t uva)
{
	if (err == EFAULT && !proc_self()->p_said_efault)
		fault_hostile_pointer(lwp_self()->l_tf, uva);
	return err;
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
