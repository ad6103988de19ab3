/*
 * Stop points: the places where a controller may look at a process.  Included
 * by kern/.
 *
 * libpctx(3LIB) calls its handlers at these events.  At each, the current LWP
 * is in a system call and holds no lock, so it may be made to wait.  A process
 * that is killed passes no stop point.
 */
#pragma once

#include <stdint.h>

struct lwp;

enum stop_at {
	/* arg: l_id of a new LWP, not started; its counters are inherited. */
	STOP_LWP_CREATE,
	/* The LWP will exit, others stay; its context still exists. */
	STOP_LWP_EXIT,
	/* In execve(2), which may still fail.  All LWPs and contexts exist. */
	STOP_EXEC_ENTRY,
	/* It has failed, and will return an error. */
	STOP_EXEC_FAILED,
	/* The new program has not run; one LWP is left, nothing is bound. */
	STOP_EXEC,
	/* arg: p_pid of a new process, not started. */
	STOP_FORK,
	/* arg: the exit status.  All LWPs and their contexts still exist. */
	STOP_EXIT,
};

/* A function to call at the stop points of a process (p_stop). */
typedef void stop_fn(struct lwp *l, enum stop_at at, intptr_t arg);

/* Called by the current LWP when it reaches a stop point. */
void stop_point(enum stop_at at, intptr_t arg);

/* trace=stops: print a line and continue. */
stop_fn stop_trace;
