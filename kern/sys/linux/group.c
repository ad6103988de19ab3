/*
 * Process groups and sessions.
 *
 * Without a terminal a session only limits which groups a process may join.
 * The launcher leads the session 0.  The programs of a line are one group,
 * which has the number of the first.  A group exists as long as a process that
 * was not waited for is in it.
 */
#include <stddef.h>

#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/sys/syscall.h"

/*
 * The process of this number, or of an LWP of this number.  It may have ended.
 * 0: the caller's.
 */
static struct proc *
find_process(int pid)
{
	return pid == 0 ? proc_self() : proc_find_any(pid);
}

/* A member of a group, or NULL. */
static const struct proc *
find_member(int pgid)
{
	const struct proc *p = allprocs;

	while (p != NULL && p->p_pgid != pgid)
		p = p->p_next;
	return p;
}

/* May the group of p be changed by the caller?  Returns 0 or an errno. */
static int
check_change(const struct proc *p)
{
	const struct proc *self = proc_self();

	if (p == NULL || (p != self && p->p_parent != self))
		return ESRCH;
	if (p->p_sid != self->p_sid || p->p_sid == p->p_pid)
		return EPERM;
	return p != self && p->p_execed ? EACCES : 0;
}

intptr_t
sys_setpgid(const uintptr_t *a)
{
	struct proc *p = find_process((int)a[0]);
	const struct proc *member;
	int pgid = (int)a[1], err;

	if (pgid < 0 || (p != NULL && a[0] != 0 && p->p_pid != (int)a[0]))
		return -EINVAL; /* not the number of a process */
	if ((err = check_change(p)) != 0)
		return -err;
	if (pgid == 0)
		pgid = p->p_pid;
	if (pgid != p->p_pid &&
	    ((member = find_member(pgid)) == NULL || member->p_sid != p->p_sid))
		return -EPERM;
	p->p_pgid = pgid;
	return 0;
}

intptr_t
sys_getpgid(const uintptr_t *a)
{
	const struct proc *p = find_process((int)a[0]);

	return p != NULL ? p->p_pgid : -ESRCH;
}

intptr_t
sys_getpgrp(const uintptr_t *)
{
	return proc_self()->p_pgid;
}

intptr_t
sys_getsid(const uintptr_t *a)
{
	const struct proc *p = find_process((int)a[0]);

	return p != NULL ? p->p_sid : -ESRCH;
}

/* The leader of a group would leave the others of it in another session. */
intptr_t
sys_setsid(const uintptr_t *)
{
	struct proc *self = proc_self();

	if (find_member(self->p_pid) != NULL)
		return -EPERM;
	return self->p_sid = self->p_pgid = self->p_pid;
}
