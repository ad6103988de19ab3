/* Maps Linux's system call numbers on x86-64 to the kernel's own. */
#include "kern/arch.h"
#include "kern/sys/syscall.h"

#define ENTRY(name, x86, ...)                 [x86] = SYS_##name,
#define ENTRY_SHARED(name, other, x86, arm64) [x86] = SYS_##name,
const int16_t arch_sysmap[] = { [42 ... 52] = SYS_not_socket,
	[54 ... 55] = SYS_not_socket,
	[189 ... 199] = SYS_no_xattr,
	SYSCALLS(ENTRY, ENTRY) SYSCALLS_SHARED(ENTRY_SHARED) };
const unsigned arch_sysmap_len = sizeof arch_sysmap / sizeof arch_sysmap[0];

/* Linux, include/uapi/linux/eventpoll.h: `data` is packed. */
const unsigned arch_epoll_data = 4;
/* clone(2): flags, stack, parent's id, child's id, TLS. */
const unsigned arch_clone_tls = 4;
/* Linux, include/uapi/asm-generic/fcntl.h. */
const unsigned arch_o_directory = 0200000;
