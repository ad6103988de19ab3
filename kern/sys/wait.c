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

/* The children that a call waits for: all, one, or those of a group. */
struct wanted {
	enum { P_ALL, P_PID, P_PGID } type; /* numbered as Linux's idtype_t */
	int id;
};

static bool
is_wanted(const struct proc *child, struct wanted w)
{
	return w.type == P_ALL ||
	       (w.type == P_PID ? child->p_pid : child->p_pgid) == w.id;
}

/* Find an ended child.  *any: a child exists, ended or not. */
static struct proc *
ended_child(struct proc *p, struct wanted w, bool *any)
{
	*any = false;
	for (struct proc *c = p->p_children; c != NULL; c = c->p_sibling) {
		if (!is_wanted(c, w))
			continue;
		*any = true;
		if (c->p_done)
			return c;
	}
	return NULL;
}

/* The children of a group; 0: the caller's group now. */
static struct wanted
wanted_group(int pgid)
{
	return (
	    struct wanted){ P_PGID, pgid != 0 ? pgid : proc_self()->p_pgid };
}

/* Returns 0 with *child, or with NULL for WNOHANG; or an errno. */
static int
wait_for(struct wanted w, unsigned options, struct proc **child)
{
	struct proc *p = proc_self();
	int err = 0;
	bool any;

	lock_acquire(&p->p_child_wait.wq_lock);
	while ((*child = ended_child(p, w, &any)) == NULL && err == 0) {
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
	struct wanted w = { P_ALL, 0 };
	int pid = (int)a[0], status, err;
	struct proc *child;

	if (options & ~WAIT4_FLAGS)
		return -EINVAL;
	if (pid == INT32_MIN)
		return -ESRCH;
	if (pid > 0)
		w = (struct wanted){ P_PID, pid };
	else if (pid != -1)
		w = wanted_group(-pid);
	err = wait_for(w, options, &child);
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
	struct wanted w = { P_ALL, 0 };
	int id = (int)a[1], err;
	struct proc *child;

	if ((options & ~WAITID_FLAGS) || !(options & WEXITED) ||
	    a[0] > P_PGID || (a[0] == P_PID && id <= 0) ||
	    (a[0] == P_PGID && id < 0))
		return -EINVAL;
	if (a[0] == P_PID)
		w = (struct wanted){ P_PID, id };
	else if (a[0] == P_PGID)
		w = wanted_group(id);
	err = wait_for(w, options, &child);
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
