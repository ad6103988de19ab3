/*
 * Copies between the kernel and a program's memory, with a hook that reports
 * bad addresses.
 */
#include "kern/mm/usercopy.h"

#include "kern/arch.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"

static void (*on_refusal)(uintptr_t uva);

void
usercopy_on_refusal(void (*fn)(uintptr_t uva))
{
	on_refusal = fn;
}

static int
report_fault(int err, uintptr_t uva)
{
	if (err == EFAULT && on_refusal != NULL)
		on_refusal(uva);
	return err;
}

int
usercopy_fault(uintptr_t uva)
{
	return report_fault(EFAULT, uva);
}

int
copyin(void *dst, uintptr_t uva, size_t len)
{
	return report_fault(arch_copyin(dst, uva, len), uva);
}

int
copyout(uintptr_t uva, const void *src, size_t len)
{
	return report_fault(arch_copyout(uva, src, len), uva);
}

int
copyinstr(char *dst, uintptr_t uva, size_t max)
{
	return report_fault(arch_copyinstr(dst, uva, max), uva);
}

int
copyzero(uintptr_t uva, size_t len)
{
	static const char zeros[1024];

	entry_budget_add(len >> PAGE_SHIFT);
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
