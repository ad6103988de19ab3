/*
 * System calls that wait for children.
 */
#include <stdbool.h>
#include <stddef.h>

#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/sched.h"
#include "kern/sys/syscall.h"
#include "kern/sys/usage.h"
#include "lib/string.h"

/* Linux's options.  Children are never stopped. */
#define WNOHANG    0x00000001u
#define WUNTRACED  0x00000002u
#define WEXITED    0x00000004u
#define WCONTINUED 0x00000008u
#define WNOWAIT    0x01000000u
#define WNOTHREAD  0x20000000u
#define WALL       0x40000000u
#define WCLONE     0x80000000u
#define WAIT4_FLAGS                                                            \
	(WNOHANG | WUNTRACED | WCONTINUED | WNOTHREAD | WALL | WCLONE)
#define WAITID_FLAGS (WAIT4_FLAGS | WEXITED | WNOWAIT)

#define P_ALL 0
#define P_PID 1

/* Find an ended child: pid, or any (-1).  *any: a child exists, ended or not.
 */
static struct proc *
ended_child(struct proc *p, int pid, bool *any)
{
	*any = false;
	for (struct proc *c = p->p_children; c != NULL; c = c->p_sibling) {
		if (pid != -1 && c->p_pid != pid)
			continue;
		*any = true;
		if (c->p_done)
			return c;
	}
	return NULL;
}

/* Returns 0 with *child, or with NULL for WNOHANG; or an errno. */
static int
wait_for(int pid, unsigned options, struct proc **child)
{
	struct proc *p = proc_self();
	int err = 0;
	bool any;

	lock_acquire(&p->p_child_wait.wq_lock);
	while ((*child = ended_child(p, pid, &any)) == NULL && err == 0) {
		if (!any)
			err = ECHILD;
		else if (options & WNOHANG)
			break;
		else
			err = waitq_sleep(&p->p_child_wait, ~0ULL);
	}
	lock_release(&p->p_child_wait.wq_lock);
	return *child != NULL ? 0 : err;
}

/* The status in the form that the macros of wait(2) decode. */
static int
wait_status(const struct proc *child)
{
	if (child->p_status >= KILLED(0))
		return child->p_status & 0x7f;
	return child->p_status << 8;
}

/* Free a child that was waited for, and keep its time. */
static void
reap_child(struct proc *child)
{
	proc_self()->p_children_ran += proc_ran(child) + child->p_children_ran;
	proc_reap(child);
}

intptr_t
sys_wait4(const uintptr_t *a)
{
	unsigned options = (unsigned)a[2];
	int pid = (int)a[0], status, err;
	struct proc *child;

	if (options & ~WAIT4_FLAGS)
		return -EINVAL;
	/* All processes are one process group. */
	if (pid == 0)
		pid = -1;
	if (pid < -1)
		return -ECHILD;
	err = wait_for(pid, options, &child);
	if (err == EINTR)
		return sig_restart(lwp_self());
	if (err != 0 || child == NULL)
		return -err;
	status = wait_status(child);
	pid = child->p_pid;
	if ((a[1] != 0 && copyout(a[1], &status, sizeof status) != 0) ||
	    usage_copyout(a[3], child) != 0)
		return -EFAULT;
	reap_child(child);
	return pid;
}

static int
copyout_siginfo(uintptr_t uva, const struct proc *child)
{
	union {
		struct siginfo info;
		char bytes[SIGINFO_BYTES];
	} u;
	bool killed;

	memset(&u, 0, sizeof u);
	if (child != NULL) {
		killed = child->p_status >= KILLED(0);
		u.info.si_signo = SIGCHLD;
		u.info.si_code = killed ? CLD_KILLED : CLD_EXITED;
		u.info.si_pid = child->p_pid;
		u.info.si_status = child->p_status & (killed ? 0x7f : 0xff);
	}
	return uva != 0 ? copyout(uva, &u, sizeof u) : 0;
}

intptr_t
sys_waitid(const uintptr_t *a)
{
	unsigned options = (unsigned)a[3];
	struct proc *child;
	int err;

	if ((options & ~WAITID_FLAGS) || (a[0] != P_ALL && a[0] != P_PID) ||
	    (a[0] == P_PID && (int)a[1] <= 0) || !(options & WEXITED))
		return -EINVAL;
	err = wait_for(a[0] == P_ALL ? -1 : (int)a[1], options, &child);
	if (err == EINTR)
		return sig_restart(lwp_self());
	if (err != 0)
		return -err;
	if (copyout_siginfo(a[2], child) != 0 ||
	    usage_copyout(a[4], child) != 0)
		return -EFAULT;
	if (child != NULL && !(options & WNOWAIT))
		reap_child(child);
	return 0;
}
