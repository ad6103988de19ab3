/* Copies between kernel and payload: chooses a loop of usercopy_loops.S. */
#include "kern/arch.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"

int arm64_copyin_user(void *dst, uintptr_t src, size_t len);
int arm64_copyin_system(void *dst, uintptr_t src, size_t len);
int arm64_copyout_user(uintptr_t dst, const void *src, size_t len);
int arm64_copyout_system(uintptr_t dst, const void *src, size_t len);
int arm64_copyinstr_user(char *dst, uintptr_t src, size_t max);
int arm64_copyinstr_system(char *dst, uintptr_t src, size_t max);

int
arch_copyin(void *dst, uintptr_t uva, size_t len)
{
	return lwp_self()->l_system ? arm64_copyin_system(dst, uva, len)
	                            : arm64_copyin_user(dst, uva, len);
}

int
arch_copyout(uintptr_t uva, const void *src, size_t len)
{
	return lwp_self()->l_system ? arm64_copyout_system(uva, src, len)
	                            : arm64_copyout_user(uva, src, len);
}

int
arch_copyinstr(char *dst, uintptr_t uva, size_t max)
{
	return lwp_self()->l_system ? arm64_copyinstr_system(dst, uva, max)
	                            : arm64_copyinstr_user(dst, uva, max);
}
