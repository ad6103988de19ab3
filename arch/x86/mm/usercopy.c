/*
 * Copies between kernel and user memory: the checks of their bounds.  The copy
 * itself is in trap/safe.S.
 */
#include <stdbool.h>

#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/errno.h"

static bool
in_user_half(uintptr_t uva, size_t len)
{
	return uva <= USER_TOP && len <= USER_TOP - uva;
}

int
arch_copyin(void *dst, uintptr_t uva, size_t len)
{
	if (!in_user_half(uva, len))
		return EFAULT;
	return x86_copy_user(dst, (const void *)uva, len);
}

int
arch_copyout(uintptr_t uva, const void *src, size_t len)
{
	if (!in_user_half(uva, len))
		return EFAULT;
	return x86_copy_user((void *)uva, src, len);
}

int
arch_copyinstr(char *dst, uintptr_t uva, size_t max)
{
	size_t room = uva < USER_TOP ? USER_TOP - uva : 0;
	int err;

	if (max <= room)
		return x86_copy_string(dst, (const char *)uva, max);
	err = x86_copy_string(dst, (const char *)uva, room);
	/* The string reaches the end of the user half before the limit. */
	return err == ENAMETOOLONG ? EFAULT : err;
}
