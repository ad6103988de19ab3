/*
 * Copies between kernel and payload: checks the bounds and chooses a loop of
 * usercopy_loops.S.
 */
#include <stdbool.h>

#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"

int arm64_copyin_user(void *dst, uintptr_t src, size_t len);
int arm64_copyin_system(void *dst, uintptr_t src, size_t len);
int arm64_copyout_user(uintptr_t dst, const void *src, size_t len);
int arm64_copyout_system(uintptr_t dst, const void *src, size_t len);
int arm64_copyinstr_user(char *dst, uintptr_t src, size_t max);
int arm64_copyinstr_system(char *dst, uintptr_t src, size_t max);

static bool
is_system(void)
{
	return lwp_self()->l_system;
}

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
	return is_system() ? arm64_copyin_system(dst, uva, len)
	                   : arm64_copyin_user(dst, uva, len);
}

int
arch_copyout(uintptr_t uva, const void *src, size_t len)
{
	if (!in_user_half(uva, len))
		return EFAULT;
	return is_system() ? arm64_copyout_system(uva, src, len)
	                   : arm64_copyout_user(uva, src, len);
}

int
arch_copyinstr(char *dst, uintptr_t uva, size_t max)
{
	size_t room = uva < USER_TOP ? USER_TOP - uva : 0;
	size_t n = max < room ? max : room;
	int err;

	if (n == 0)
		return max == 0 ? ENAMETOOLONG : EFAULT;
	err = is_system() ? arm64_copyinstr_system(dst, uva, n)
	                  : arm64_copyinstr_user(dst, uva, n);
	/* The end of the user half came before the limit. */
	return err == ENAMETOOLONG && n < max ? EFAULT : err;
}
