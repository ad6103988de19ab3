/* Maps Linux's system call numbers on arm64 to the kernel's own. */
#include "kern/arch.h"
#include "kern/sys/syscall.h"

#define ENTRY(name, x86, arm64)               [arm64] = SYS_##name,
#define ENTRY_SHARED(name, other, x86, arm64) [arm64] = SYS_##name,
#define NO_ENTRY(...)
const int16_t arch_sysmap[] = { [200 ... 212] = SYS_not_socket,
	[6 ... 16] = SYS_no_xattr,
	SYSCALLS(ENTRY, NO_ENTRY) SYSCALLS_SHARED(ENTRY_SHARED) };
const unsigned arch_sysmap_len = sizeof arch_sysmap / sizeof arch_sysmap[0];

/* Linux, include/uapi/linux/eventpoll.h: `data` is aligned. */
const unsigned arch_epoll_data = 8;
/* clone(2): flags, stack, parent's id, TLS, child's id. */
const unsigned arch_clone_tls = 3;
/* Linux, arch/arm64/include/uapi/asm/fcntl.h. */
const unsigned arch_o_directory = 040000;
