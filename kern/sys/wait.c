/* System calls that wait for children. */
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
#include "lib/string.h"

/* Linux's options. */
#define WNOHANG    0x00000001u
#define WSTOPPED   0x00000002u /* or WUNTRACED */
#define WEXITED    0x00000004u
#define WCONTINUED 0x00000008u
#define WNOWAIT    0x01000000u
#define WNOTHREAD  0x20000000u
#define WALL       0x40000000u
#define WCLONE     0x80000000u
#define WAIT4_FLAGS                                                            \
	(WNOHANG | WSTOPPED | WCONTINUED | WNOTHREAD | WALL | WCLONE)
#define WAITID_FLAGS (WAIT4_FLAGS | WEXITED | WNOWAIT)

/* The children that a call waits for: all, one, or those of a group. */
struct wanted {
	enum { P_ALL, P_PID, P_PGID } type; /* numbered as Linux's idtype_t */
	int id;
};

/* The news of a child, as far as asked for: a code of SIGCHLD, or 0. */
static int
news_of(const struct proc *c, unsigned options)
{
	if (c->p_done && (options & WEXITED))
		return c->p_status >= KILLED(0) ? CLD_KILLED : CLD_EXITED;
	if (c->p_done ||
	    !(options & (c->p_job == CLD_STOPPED ? WSTOPPED : WCONTINUED)))
		return 0;
	return c->p_job;
}

/* Find a child with news.  *any: one may have some, now or later. */
static struct proc *
find_child(struct proc *p, struct wanted w, unsigned options, bool *any)
{
	*any = false;
	for (struct proc *c = p->p_children; c != NULL; c = c->p_sibling) {
		if (w.type != P_ALL &&
		    (w.type == P_PID ? c->p_pid : c->p_pgid) != w.id)
			continue;
		*any |= !c->p_done || (options & WEXITED);
		if (news_of(c, options) != 0)
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

	while ((*child = find_child(p, w, options, &any)) == NULL && err == 0) {
		if (!any)
			err = ECHILD;
		else if (options & WNOHANG)
			break;
		else
			err = waitq_sleep(&p->p_child_wait, ~0ULL);
	}
	return *child != NULL ? 0 : err;
}

/* si_status of SIGCHLD. */
static int
news_status(const struct proc *child, int code)
{
	if (code == CLD_STOPPED || code == CLD_CONTINUED)
		return code == CLD_STOPPED ? child->p_stopped : SIGCONT;
	return child->p_status & (code == CLD_KILLED ? 0x7f : 0xff);
}

/* The status in the form that the macros of wait(2) decode. */
static int
wait_status(const struct proc *child, int code)
{
	int status = news_status(child, code);

	if (code == CLD_CONTINUED)
		return 0xffff;
	return code == CLD_KILLED    ? status
	       : code == CLD_STOPPED ? status << 8 | 0x7f
	                             : status << 8;
}

/* The caller knows.  Free a child that has ended, and keep its time. */
static void
take_news(struct proc *child)
{
	child->p_job = 0;
	if (!child->p_done)
		return;
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
	options |= WEXITED;
	err = wait_for(w, options, &child);
	if (err == EINTR)
		return sig_restart(lwp_self());
	if (err != 0 || child == NULL)
		return -err;
	status = wait_status(child, news_of(child, options));
	pid = child->p_pid;
	if ((a[1] != 0 && copyout(a[1], &status, sizeof status) != 0) ||
	    usage_copyout(a[3], child) != 0)
		return -EFAULT;
	take_news(child);
	return pid;
}

static int
copyout_siginfo(uintptr_t uva, const struct proc *child, unsigned options)
{
	union {
		struct siginfo info;
		char bytes[SIGINFO_BYTES];
	} u;

	memset(&u, 0, sizeof u);
	if (child != NULL) {
		u.info.si_signo = SIGCHLD;
		u.info.si_code = news_of(child, options);
		u.info.si_pid = child->p_pid;
		u.info.si_status = news_status(child, u.info.si_code);
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

	if ((options & ~WAITID_FLAGS) ||
	    !(options & (WEXITED | WSTOPPED | WCONTINUED)) || a[0] > P_PGID ||
	    (a[0] == P_PID && id <= 0) || (a[0] == P_PGID && id < 0))
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
	if (copyout_siginfo(a[2], child, options) != 0 ||
	    usage_copyout(a[4], child) != 0)
		return -EFAULT;
	if (child != NULL && !(options & WNOWAIT))
		take_news(child);
	return 0;
}
