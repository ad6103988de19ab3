/*
 * Control of one process by another, for libpctx(3LIB).  Included by kern/.
 *
 * A process has at most one controller.  When an LWP of the process reaches a
 * stop point, all its LWPs stop until the controller lets them go on.
 * The controller sees counts of the process, but not its memory.
 *
 * A stopped LWP sleeps, or is ready to run.  Either way it runs no user code:
 * it parks in trap_return() first.  So its counters are at rest whenever the
 * controller holds the kernel lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/proc/control/stop_point.h"

struct lwp;
struct proc;

/* How a wait of the controller ended. */
struct control_event {
	bool cv_tick; /* by its deadline; else at a stop point: */
	enum stop_at cv_at;
	int cv_lwp;      /* the LWP that reached it */
	intptr_t cv_arg; /* its argument; tick: an LWP is in vfork(2) */
};

/*
 * The process asks its parent to control it.  It is killed when the parent
 * ends or releases it.  ESRCH: it has no parent.
 */
int control_me(void);
/*
 * The caller controls the process, which stops.  EPERM: the caller lacks
 * cpc_cpu(5), and the process does not descend from it.  ECHILD: the process
 * has ended.  EBUSY: it has a controller.  EDEADLK: it controls the caller.
 * EINVAL: it is the caller.  ESRCH, EINTR.
 */
int control_capture(int pid);
/* Give a controlled process to a child of the caller.  ESRCH, EDEADLK. */
int control_give(int pid, int heir);
/*
 * Let a controlled process go on, until one of its LWPs is at a stop point, or
 * until arch_tick() >= deadline.  It is stopped again when this returns 0, or
 * ECANCELED after control_cancel().  A second LWP at a stop point is returned
 * by the next call, before anything goes on.  ESRCH: the process has ended, or
 * is not controlled by the caller.  EINTR: it may be running.
 */
int control_wait(int pid, uint64_t deadline, struct control_event *ev);
/* The controller's wait, or its next one, ends with ECANCELED.  ESRCH. */
int control_cancel(int pid);
/* A controlled process goes on without control, or is killed.  ESRCH. */
int control_release(int pid);
void control_release_all(struct proc *controller);
/* The process that the caller controls, or NULL. */
struct proc *control_find(int pid);
/*
 * An LWP of it, which is stopped.  Sleeps if the LWP was woken in its system
 * call and has not stopped again.  ESRCH; EBUSY: the LWP is running, because a
 * wait ended with EINTR, as this one may.
 */
int control_find_lwp(int pid, int id, struct lwp **lp);
/* The LWP with the lowest l_id above id, or NULL. */
struct lwp *control_next_lwp(const struct proc *p, int id);

/* The current LWP is at a stop point of a controlled process. */
void control_stop(struct lwp *l, enum stop_at at, intptr_t arg);
/* Handle AST_STOP of the current LWP: wait until it may go on. */
void control_wait_stopped(struct lwp *l);
/* The last LWP of p exits. */
void control_proc_ended(struct proc *p);
