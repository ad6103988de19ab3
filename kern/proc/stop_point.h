/*
 * Stop points: where who controls a process has to look at it.  Included by
 * kern/.
 *
 * They lie where libpctx(3LIB) wants its handlers called.  At each the LWP
 * that got there is current, in a system call of its own, and holds nothing:
 * it may be made to wait.  A process that is killed comes by none of them.
 */
#ifndef KERN_PROC_STOP_POINT_H
#define KERN_PROC_STOP_POINT_H

#include <stdint.h>

struct lwp;

enum stop_at {
	/* arg: the id of a new LWP, which has what it inherits and waits. */
	STOP_LWP_CREATE,
	/* The LWP is to end, and others are left; its context is there. */
	STOP_LWP_EXIT,
	/*
	 * Another program is loaded and will take over; so far all LWPs and
	 * their contexts are there.
	 */
	STOP_EXEC_ENTRY,
	/* It has, and has not run; one LWP is left, and nothing is bound. */
	STOP_EXEC,
	/* arg: the number of a new process, which waits. */
	STOP_FORK,
	/* arg: the status.  All LWPs and their contexts are there. */
	STOP_EXIT,
};

/* What is done at the stop points of a process: p_stop. */
typedef void stop_fn(struct lwp *l, enum stop_at at, intptr_t arg);

/* The current LWP is there. */
void stop_point(enum stop_at at, intptr_t arg);

/* trace=stops: print a line, and go on. */
stop_fn stop_trace;

#endif /* KERN_PROC_STOP_POINT_H */
