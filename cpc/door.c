/*
 * The door itself.  Not in the host tests, which have their own.
 */
#include <errno.h>
#include <unistd.h>

#include <sys/barecpc.h>
#include <sys/cpc.h>

intptr_t
cpc_syscall(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	long r = syscall(BARECPC_SYS_CPC, (long)op, a, b, c, d);

	return r == -1 ? -errno : r;
}
