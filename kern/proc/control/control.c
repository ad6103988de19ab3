/*
 * Control of one process by another: stopping its LWPs, and the events that
 * its controller waits for.
 *
 * The controller sleeps in p_child_wait of its own process.  LWPs that have to
 * stop have l_stop_for point there, and wake it when they fall asleep or end.
 */
#include "kern/proc/control/control.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/counting.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"

/* Stopping */

/* Order all LWPs to stop before they run user code again. */
static void
order_stop(struct proc *p)
{
	for (struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling) {
		if ((l->l_ast & AST_STOP) != 0)
			continue;
		l->l_ast |= AST_STOP;
		l->l_stop_for = &p->p_controller->p_child_wait;
		if (l->l_state == LWP_RUNNING && l->l_cpu != arch_curcpu())
			arch_ipi(l->l_cpu, IPI_RESCHED);
		else if (l->l_state == LWP_READY_LOWEST)
			sched_promote(l); /* others may never sleep */
	}
}

/*
 * An LWP rests while it sleeps, and before it first runs.  One that waits for a
 * CPU does not: it may be in the middle of a system call.
 */
static bool
is_resting(const struct lwp *l)
{
	return l->l_state == LWP_ASLEEP || l->l_state == LWP_NEW;
}

static bool
all_stopped(const struct proc *p)
{
	const struct lwp *l = p->p_lwps;

	while (l != NULL && is_resting(l))
		l = l->l_sibling;
	return l == NULL;
}

static void release(struct proc *p);

/*
 * An LWP goes on.  If it is at a fork that the controller has not seen, the
 * controller does not know the child.  Then the child goes on, too.
 */
static void
end_stop(struct lwp *l)
{
	struct proc *child;

	if (l->l_stop == STOP_NEW && l->l_stop_at == STOP_FORK) {
		child = proc_find((int)l->l_stop_arg);
		if (child != NULL && child->p_controller != NULL &&
		    child->p_controller == l->l_proc->p_controller)
			release(child);
	}
	l->l_ast &= ~AST_STOP;
	l->l_stop_for = NULL;
	l->l_stop = STOP_NONE;
}

static void
resume_all(struct proc *p)
{
	for (struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling)
		end_stop(l);
	waitq_wake(&p->p_parked, ~0U);
}

void
control_wait_stopped(struct lwp *l)
{
	struct proc *p = l->l_proc;

	while ((l->l_ast & (AST_STOP | AST_JOB)) != 0 &&
	       (l->l_ast & AST_EXIT) == 0 &&
	       (sig_pending(l) & SIGBIT(SIGKILL)) == 0)
		waitq_wait(&p->p_parked);
	end_stop(l);
}

static void attach(struct proc *p, struct proc *controller, bool dies_with);

void
control_stop(struct lwp *l, enum stop_at at, intptr_t arg)
{
	struct proc *p = l->l_proc;

	if (at == STOP_FORK)
		attach(proc_find((int)arg), p->p_controller, false);
	l->l_stop = STOP_NEW;
	l->l_stop_at = (int)at;
	l->l_stop_arg = arg;
	order_stop(p);
	control_wait_stopped(l);
}

/* Taking and leaving control */

static void
attach(struct proc *p, struct proc *controller, bool dies_with)
{
	p->p_controller = controller;
	p->p_dies_with = dies_with;
	p->p_wait_cancel = false;
	p->p_also = controller->p_controlled;
	controller->p_controlled = p;
	order_stop(p);
}

static void
detach(struct proc *p)
{
	struct proc *by = p->p_controller, **link = &by->p_controlled;

	while (*link != p)
		link = &(*link)->p_also;
	*link = p->p_also;
	p->p_controller = NULL;
	counting->released(by, p);
}

/* Does p control the process q, itself or through others? */
static bool
controls(const struct proc *p, const struct proc *q)
{
	while (q != NULL && q != p)
		q = q->p_controller;
	return q != NULL;
}

static bool
descends_from(const struct proc *p, const struct proc *ancestor)
{
	while (p != NULL && p != ancestor)
		p = p->p_parent;
	return p != NULL;
}

struct proc *
control_find(int pid)
{
	struct proc *p = proc_find(pid);

	return p != NULL && p->p_controller == proc_self() ? p : NULL;
}

int
control_me(void)
{
	struct proc *p = proc_self(), *parent = p->p_parent;

	if (parent == NULL)
		return ESRCH;
	if (p->p_controller != NULL)
		return EBUSY;
	if (controls(p, parent))
		return EDEADLK;
	attach(p, parent, true);
	/* It stops at its first stop point, in execve(2) or at its exit. */
	resume_all(p);
	return 0;
}

/* May the caller capture p?  0 or an errno. */
static int
may_capture(const struct proc *p)
{
	const struct proc *self = proc_self();

	if (p == self)
		return EINVAL;
	if (!self->p_cpc_cpu && !descends_from(p, self))
		return EPERM;
	if (p->p_controller != NULL)
		return EBUSY;
	return controls(p, self) ? EDEADLK : 0;
}

int
control_capture(int pid)
{
	struct waitq *wq = &proc_self()->p_child_wait;
	struct proc *p = proc_find(pid);
	int err;

	if (p == NULL || p->p_exiting)
		return proc_find_any(pid) != NULL ? ECHILD : ESRCH;
	if ((err = may_capture(p)) != 0)
		return err;
	attach(p, proc_self(), false);
	while ((p = control_find(pid)) != NULL && !all_stopped(p) && err == 0)
		err = waitq_sleep(wq, ~0ULL);
	if (p == NULL)
		return ECHILD;
	if (err != 0)
		control_release(pid);
	return err;
}

int
control_give(int pid, int heir)
{
	struct proc *p = control_find(pid), *to = proc_find(heir);

	if (p == NULL || to == NULL || to->p_parent != proc_self())
		return ESRCH;
	if (controls(p, to))
		return EDEADLK;
	resume_all(p);
	detach(p);
	attach(p, to, false);
	return 0;
}

static void
release(struct proc *p)
{
	resume_all(p);
	detach(p);
	if (p->p_dies_with)
		proc_kill(p, KILLED(SIGKILL));
}

int
control_release(int pid)
{
	struct proc *p = control_find(pid);

	if (p == NULL)
		return ESRCH;
	release(p);
	return 0;
}

void
control_release_all(struct proc *controller)
{
	while (controller->p_controlled != NULL)
		release(controller->p_controlled);
}

void
control_proc_ended(struct proc *p)
{
	struct proc *by = p->p_controller;

	control_release_all(p);
	if (by == NULL)
		return;
	detach(p);
	waitq_wake(&by->p_child_wait, ~0U);
}

/* Waiting */

int
control_cancel(int pid)
{
	struct proc *p = control_find(pid);

	if (p == NULL)
		return ESRCH;
	p->p_wait_cancel = true;
	waitq_wake(&p->p_controller->p_child_wait, ~0U);
	return 0;
}

/* The LWP at a stop point that the controller has not seen, or NULL. */
static struct lwp *
next_stop(const struct proc *p)
{
	struct lwp *l = p->p_lwps, *first = NULL;

	for (; l != NULL; l = l->l_sibling) {
		if (l->l_stop == STOP_NEW &&
		    (first == NULL || l->l_id < first->l_id))
			first = l;
	}
	return first;
}

static bool
in_vfork(const struct proc *p)
{
	const struct lwp *l = p->p_lwps;

	while (l != NULL && !l->l_vforking)
		l = l->l_sibling;
	return l != NULL;
}

static int
event_take(struct proc *p, struct control_event *ev)
{
	struct lwp *l = next_stop(p);

	if (p->p_wait_cancel) {
		p->p_wait_cancel = false;
		return ECANCELED;
	}
	*ev = (struct control_event){ .cv_tick = l == NULL };
	if (l == NULL) {
		ev->cv_arg = in_vfork(p);
		return 0;
	}
	l->l_stop = STOP_TOLD;
	ev->cv_at = (enum stop_at)l->l_stop_at;
	ev->cv_lwp = l->l_id;
	ev->cv_arg = l->l_stop_arg;
	return 0;
}

int
control_wait(int pid, uint64_t deadline, struct control_event *ev)
{
	struct waitq *wq = &proc_self()->p_child_wait;
	struct proc *p = control_find(pid);
	int err = 0;
	bool over;

	if (p != NULL && next_stop(p) == NULL && !p->p_wait_cancel)
		resume_all(p);
	while ((p = control_find(pid)) != NULL && err != EINTR) {
		over = next_stop(p) != NULL || p->p_wait_cancel ||
		       arch_tick() >= deadline;
		if (over) /* there is something to return */
			order_stop(p);
		if (over && all_stopped(p))
			break;
		err = waitq_sleep(wq, over ? ~0ULL : deadline);
	}
	if (p == NULL)
		return ESRCH;
	return err == EINTR ? EINTR : event_take(p, ev);
}

struct lwp *
control_next_lwp(const struct proc *p, int id)
{
	struct lwp *l = p->p_lwps, *next = NULL;

	for (; l != NULL; l = l->l_sibling) {
		if (l->l_id > id && (next == NULL || l->l_id < next->l_id))
			next = l;
	}
	return next;
}

int
control_find_lwp(int pid, int id, struct lwp **lp)
{
	struct waitq *wq = &proc_self()->p_child_wait;
	const struct proc *p;
	struct lwp *l = NULL;
	int err = 0;

	while ((p = control_find(pid)) != NULL &&
	       (l = control_next_lwp(p, id - 1)) != NULL && l->l_id == id &&
	       !is_resting(l) && (l->l_ast & AST_STOP) != 0 && err == 0)
		err = waitq_sleep(wq, ~0ULL);
	if (p == NULL || l == NULL || l->l_id != id)
		return ESRCH;
	*lp = l;
	return is_resting(l) ? 0 : EBUSY;
}
