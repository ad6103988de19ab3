/* The state that kern/debug/test_hooks.c reads, without contents. */
#include "kern/debug/debug.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sys/syscall.h"

bool (*page_alloc_fails)(void);
size_t page_ntables;
unsigned nlwp;
struct proc *allprocs;
syscall_fn *syscall_linux[SYSCALL_NLINUX];

size_t
page_nfree(void)
{
	return 0;
}

size_t
kmalloc_nblocks(void)
{
	return 0;
}

intptr_t
coverage_blocks(void)
{
	return 0;
}

intptr_t
syscall_unknown(const uintptr_t *a)
{
	(void)a;
	return -ENOSYS;
}
