/*
 * The map from Linux's numbers of system calls on x86-64 to the kernel's own
 * numbers, and arch_prctl(2), which only x86 has.
 */
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/sys/syscall.h"

#define ENTRY(name, x86, ...)                 [x86] = SYS_##name,
#define ENTRY_SHARED(name, other, x86, arm64) [x86] = SYS_##name,
const int16_t arch_sysmap[] = { [42 ... 52] = SYS_not_socket,
	[54 ... 55] = SYS_not_socket,
	[94] = SYS_chown, /* lchown */
	SYSCALLS(ENTRY, ENTRY) SYSCALLS_SHARED(ENTRY_SHARED) };
const unsigned arch_sysmap_len = sizeof arch_sysmap / sizeof arch_sysmap[0];

/* Linux, include/uapi/linux/eventpoll.h: `data` is packed. */
const unsigned arch_epoll_data = 4;
/* clone(2): flags, stack, parent's id, child's id, TLS. */
const unsigned arch_clone_tls = 4;
/* Linux, include/uapi/asm-generic/fcntl.h. */
const unsigned arch_o_directory = 0200000;

#define SYS_ARCH_PRCTL 158
#define ARCH_SET_GS    0x1001
#define ARCH_SET_FS    0x1002
#define ARCH_GET_FS    0x1003
#define ARCH_GET_GS    0x1004

static intptr_t
arch_prctl(unsigned code, uintptr_t arg)
{
	uintptr_t base;

	switch (code) {
	case ARCH_SET_FS:
	case ARCH_SET_GS:
		/* entry.S takes an upper address for the kernel's base. */
		if (arg >= USER_TOP)
			return -EPERM;
		if (code == ARCH_SET_FS)
			arch_set_tls(arg);
		else
			x86_set_gs(arg);
		return 0;
	case ARCH_GET_FS:
	case ARCH_GET_GS:
		base = code == ARCH_GET_FS ? arch_get_tls() : x86_get_gs();
		return -copyout(arg, &base, sizeof base);
	default:
		return -EINVAL;
	}
}

intptr_t
arch_syscall(unsigned sysno, const uintptr_t *a)
{
	if (sysno != SYS_ARCH_PRCTL)
		return -ENOSYS;
	return arch_prctl((unsigned)a[0], a[1]);
}
