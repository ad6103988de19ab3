/* System calls that end LWPs and processes, and return their ids. */
#include "kern/proc/proc.h"
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sys/syscall.h"
#include "lib/string.h"

intptr_t
sys_exit_group(const uintptr_t *a)
{
	int status = (int)a[0] & 0xff;

	stop_point(STOP_EXIT, status);
	proc_kill(proc_self(), status);
	return 0; /* trap_return() lets the LWP exit */
}

/* End this LWP.  The last LWP's status is its process's. */
intptr_t
sys_exit(const uintptr_t *a)
{
	struct proc *p = proc_self();

	if (!p->p_exiting)
		p->p_status = (int)a[0] & 0xff;
	if (p->p_nlwp > 1)
		stop_point(STOP_LWP_EXIT, 0);
	/* The other LWPs may have ended while it waited above. */
	if (p->p_nlwp == 1)
		stop_point(STOP_EXIT, p->p_status);
	lwp_exit();
}

intptr_t
sys_set_tid_address(const uintptr_t *a)
{
	lwp_self()->l_clear_tid = a[0];
	return lwp_self()->l_tid;
}

#define ROBUST_HEAD_BYTES 24

intptr_t
sys_set_robust_list(const uintptr_t *a)
{
	if (a[1] != ROBUST_HEAD_BYTES)
		return -EINVAL;
	lwp_self()->l_robust = a[0];
	return 0;
}

intptr_t
sys_get_robust_list(const uintptr_t *a)
{
	const struct lwp *l = a[0] == 0 ? lwp_self() : lwp_find((int)a[0]);
	const uint64_t bytes = ROBUST_HEAD_BYTES;

	if (l == NULL || l->l_proc != proc_self())
		return -ESRCH;
	if (copyout(a[1], &l->l_robust, sizeof l->l_robust) != 0 ||
	    copyout(a[2], &bytes, sizeof bytes) != 0)
		return -EFAULT;
	return 0;
}

/* There is no network and no log: as on a Linux without any. */
intptr_t
sys_socket(const uintptr_t *)
{
	return -EAFNOSUPPORT;
}

/* Calls on a socket: no descriptor is one. */
intptr_t
sys_not_socket(const uintptr_t *a)
{
	return file_get((int)a[0]) == NULL ? -EBADF : -ENOTSOCK;
}

/* Linux, include/uapi/linux/prctl.h. */
#define PR_SET_NAME 15
#define PR_GET_NAME 16

/* Linux returns EINVAL for an option that it lacks, too. */
intptr_t
sys_prctl(const uintptr_t *a)
{
	char *name = lwp_self()->l_name, set[sizeof lwp_self()->l_name] = "";

	if (a[0] == PR_GET_NAME)
		return -copyout(a[1], name, sizeof set);
	if (a[0] != PR_SET_NAME)
		return -EINVAL;
	int err = copyinstr(set, a[1], sizeof set);
	if (err != 0 && err != ENAMETOOLONG)
		return -err;
	set[sizeof set - 1] = '\0';
	memcpy(name, set, sizeof set);
	return 0;
}

/* A program stays user 0, and group 0.  -1: that id stays. */
intptr_t
sys_setresuid(const uintptr_t *a)
{
	for (unsigned i = 0; i < 3; i++) {
		if (a[i] != 0 && (uint32_t)a[i] != UINT32_MAX)
			return -EPERM;
	}
	return 0;
}

intptr_t
sys_getresuid(const uintptr_t *a)
{
	const uint32_t id = 0;
	int err = 0;

	for (unsigned i = 0; i < 3 && err == 0; i++)
		err = copyout(a[i], &id, sizeof id);
	return -err;
}

/* User 0 has no other groups. */
intptr_t
sys_getgroups(const uintptr_t *a)
{
	return (int)a[0] < 0 ? -EINVAL : 0;
}

intptr_t
sys_getpid(const uintptr_t *)
{
	return proc_self()->p_pid;
}

intptr_t
sys_getppid(const uintptr_t *)
{
	struct proc *parent = proc_self()->p_parent;

	return parent != NULL ? parent->p_pid : 0;
}

intptr_t
sys_gettid(const uintptr_t *)
{
	return lwp_self()->l_tid;
}

/* The only user and group is root: this serves all calls for their ids. */
intptr_t
sys_getuid(const uintptr_t *)
{
	return 0;
}

/* Linux, include/uapi/linux/capability.h. */
#define CAPABILITY_V1    0x19980330
#define CAPABILITY_V2    0x20071026
#define CAPABILITY_V3    0x20080522
#define CAPABILITY_BYTES 12 /* of one struct; versions 2 and 3 have two */

/* No process has a capability: none of what they permit exists. */
intptr_t
sys_capget(const uintptr_t *a)
{
	struct {
		uint32_t version;
		int32_t pid;
	} head;
	const uint32_t latest = CAPABILITY_V3;

	if (copyin(&head, a[0], sizeof head) != 0)
		return -EFAULT;
	if (head.version != CAPABILITY_V1 && head.version != CAPABILITY_V2 &&
	    head.version != CAPABILITY_V3) {
		if (copyout(a[0], &latest, sizeof latest) != 0)
			return -EFAULT;
		return a[1] == 0 ? 0 : -EINVAL;
	}
	if (a[1] == 0)
		return 0;
	if (head.pid < 0)
		return -EINVAL;
	if (head.pid != 0 && proc_find_any(head.pid) == NULL)
		return -ESRCH;
	return -copyzero(a[1], head.version == CAPABILITY_V1
				   ? CAPABILITY_BYTES
				   : 2 * CAPABILITY_BYTES);
}
