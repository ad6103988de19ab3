/* Copies between kernel and programs, with a hook for bad addresses. */
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

static inline bool
in_user_half(uintptr_t uva, size_t len)
{
	return uva <= USER_TOP && len <= USER_TOP - uva;
}

int
copyin_quietly(void *dst, uintptr_t uva, size_t len)
{
	return in_user_half(uva, len) ? arch_copyin(dst, uva, len) : EFAULT;
}

int
copyout_quietly(uintptr_t uva, const void *src, size_t len)
{
	return in_user_half(uva, len) ? arch_copyout(uva, src, len) : EFAULT;
}

int
copyin(void *dst, uintptr_t uva, size_t len)
{
	return report_fault(copyin_quietly(dst, uva, len), uva);
}

int
copyout(uintptr_t uva, const void *src, size_t len)
{
	return report_fault(copyout_quietly(uva, src, len), uva);
}

int
copyinstr(char *dst, uintptr_t uva, size_t max)
{
	size_t room = uva < USER_TOP ? USER_TOP - uva : 0;
	size_t n = max < room ? max : room;
	int err = n > 0 ? arch_copyinstr(dst, uva, n) : ENAMETOOLONG;

	/* The end of the user half came before the limit. */
	if (err == ENAMETOOLONG && n < max)
		err = EFAULT;
	return report_fault(err, uva);
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
