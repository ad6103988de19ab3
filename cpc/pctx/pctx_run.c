/* libpctx: calls the handlers of a controlled process at its events. */
#define _GNU_SOURCE /* pipe2() */
#include "cpc/pctx/pctx.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS            1000000LL
#define COMMAND_BYTES 128

/* How a run goes on after an event. */
enum outcome { RUN_ON, RUN_DONE, RUN_FAILED };

/* Handlers */

typedef int lwp_fn(pctx_t *, pid_t, id_t, void *);

static int
call_for(pctx_t *px, lwp_fn *fn, long lwp)
{
	return fn != NULL ? fn(px, px->px_pid, (id_t)lwp, px->px_arg) : 0;
}

/* Call fn for each LWP.  Returns 0, or the last result that was not 0. */
static int
call_for_all(pctx_t *px, lwp_fn *fn)
{
	int result = 0, one;
	long id = 0;

	if (fn == NULL)
		return 0;
	while ((id = pctx_control(
		    BARECPC_CONTROL_NEXT_LWP, px->px_pid, id, NULL)) > 0) {
		if ((one = call_for(px, fn, id)) != 0)
			result = one;
	}
	return result;
}

typedef void any_fn(void);

int
pctx_set_events(pctx_t *pctx, ...)
{
	any_fn *fn;
	int event, result = 0;
	va_list ap;

	if (pctx == NULL) {
		errno = EINVAL;
		return -1;
	}
	va_start(ap, pctx);
	while (result == 0 && (event = va_arg(ap, int)) != PCTX_NULL_EVENT) {
		fn = va_arg(ap, any_fn *);
		switch (event) {
		case PCTX_SYSC_EXEC_EVENT:
			pctx->px_exec_done = (pctx_sysc_execfn_t *)fn;
			break;
		case PCTX_SYSC_FORK_EVENT:
			pctx->px_fork = (pctx_sysc_forkfn_t *)fn;
			break;
		case PCTX_SYSC_EXIT_EVENT:
			pctx->px_exit = (pctx_sysc_exitfn_t *)fn;
			break;
		case PCTX_SYSC_LWP_CREATE_EVENT:
			pctx->px_lwp_create = (pctx_sysc_lwp_createfn_t *)fn;
			break;
		case PCTX_INIT_LWP_EVENT:
			pctx->px_init_lwp = (pctx_init_lwpfn_t *)fn;
			break;
		case PCTX_FINI_LWP_EVENT:
			pctx->px_fini_lwp = (pctx_fini_lwpfn_t *)fn;
			break;
		case PCTX_SYSC_LWP_EXIT_EVENT:
			pctx->px_lwp_exit = (pctx_sysc_lwp_exitfn_t *)fn;
			break;
		default:
			pctx_say(pctx->px_errfn, "set_events",
			    "unknown event type %x\n", event);
			result = -1;
		}
	}
	va_end(ap);
	return result;
}

/* Events */

static enum outcome
lwp_created(pctx_t *px, long lwp)
{
	if (call_for(px, px->px_init_lwp, lwp) != 0 ||
	    call_for(px, px->px_lwp_create, lwp) != 0)
		return RUN_FAILED;
	return RUN_ON;
}

/* The LWPs go on in the old program, and count again. */
static enum outcome
exec_failed(pctx_t *px)
{
	if (px->px_execs == 0 || --px->px_execs != 0)
		return RUN_ON;
	return call_for_all(px, px->px_init_lwp) == 0 ? RUN_ON : RUN_FAILED;
}

static enum outcome
exec_done(pctx_t *px, long lwp)
{
	char command[COMMAND_BYTES] = "";

	px->px_execs = 0;
	if (px->px_exec_done == NULL && px->px_init_lwp == NULL &&
	    px->px_fini_lwp == NULL)
		return RUN_ON;
	if (px->px_exec_done == NULL)
		return RUN_DONE;
	pctx_control(
	    BARECPC_CONTROL_ARGS, px->px_pid, (long)sizeof command, command);
	if (px->px_exec_done(px, px->px_pid, (id_t)lwp, command, px->px_arg) !=
		0 ||
	    call_for(px, px->px_init_lwp, lwp) != 0)
		return RUN_FAILED;
	return RUN_ON;
}

static enum outcome
process_exits(pctx_t *px, long lwp, int status)
{
	if (px->px_exited)
		return RUN_ON;
	px->px_exited = true;
	int result = call_for_all(px, px->px_fini_lwp);
	if (px->px_exit != NULL)
		px->px_exit(px, px->px_pid, (id_t)lwp, status, px->px_arg);
	return result != 0 ? RUN_FAILED : RUN_ON;
}

/* The copy of the controller: it waits until it controls the child. */
static _Noreturn void
follow_child(const pctx_t *px, pid_t child, long lwp, int given)
{
	pctx_t *copy = NULL;
	char byte;

	pctx_forget_all();
	if (read(given, &byte, 1) == 1)
		copy =
		    pctx_new(child, px->px_arg, px->px_verbose, px->px_errfn);
	close(given);
	if (copy != NULL) {
		px->px_fork(
		    copy, px->px_pid, (id_t)child, (pid_t)lwp, px->px_arg);
		pctx_release(copy);
	}
	fflush(NULL);
	_exit(0);
}

/* Flush first, or the copy would print the buffer of stdio again. */
static enum outcome
process_forked(pctx_t *px, long lwp, pid_t child)
{
	int given[2];
	pid_t copy = -1;

	if (px->px_fork != NULL && pipe2(given, O_CLOEXEC) == 0) {
		fflush(NULL);
		if ((copy = fork()) == 0) {
			close(given[1]);
			follow_child(px, child, lwp, given[0]);
		}
		close(given[0]);
		if (copy != -1 &&
		    pctx_control(BARECPC_CONTROL_GIVE, child, copy, NULL) == 0)
			write(given[1], "", 1);
		close(given[1]);
		if (copy == -1)
			pctx_say(px->px_errfn, "run", "cannot follow pid %d\n",
			    (int)child);
	}
	if (copy == -1)
		pctx_control(BARECPC_CONTROL_RELEASE, child, 0, NULL);
	return RUN_ON;
}

static enum outcome
handle(pctx_t *px, const struct barecpc_control_event *ev)
{
	switch (ev->be_what) {
	case BARECPC_EVENT_LWP_CREATE:
		return lwp_created(px, ev->be_arg);
	case BARECPC_EVENT_LWP_EXIT:
		call_for(px, px->px_fini_lwp, ev->be_lwp);
		call_for(px, px->px_lwp_exit, ev->be_lwp);
		return RUN_ON;
	case BARECPC_EVENT_EXEC_ENTRY:
		/* Two LWPs may do this at once.  One at most succeeds. */
		if (px->px_execs++ == 0)
			call_for_all(px, px->px_fini_lwp);
		return RUN_ON;
	case BARECPC_EVENT_EXEC_FAILED:
		return exec_failed(px);
	case BARECPC_EVENT_EXEC:
		return exec_done(px, ev->be_lwp);
	case BARECPC_EVENT_FORK:
		return process_forked(px, ev->be_lwp, (pid_t)ev->be_arg);
	case BARECPC_EVENT_EXIT:
		return process_exits(px, ev->be_lwp, (int)ev->be_arg);
	default:
		return RUN_ON;
	}
}

/* The run */

/* Ticks are due at multiples of the interval since the start. */
struct ticks {
	hrtime_t tk_due, tk_interval; /* 0: no ticks */
	uint64_t tk_left;             /* 0: no limit */
	lwp_fn *tk_fn;
};

/*
 * A tick.  Ticks that are overdue by now are skipped, and count.  The last one
 * is not skipped: it comes at the next multiple.  An LWP in vfork(2) has lent
 * its memory to the child: then a tick is skipped, too.
 */
static enum outcome
tick(pctx_t *px, struct ticks *tk, bool skip)
{
	uint64_t over;
	int result = 0;

	if (!skip || tk->tk_left == 1)
		result = call_for_all(px, tk->tk_fn);
	if (tk->tk_left == 1)
		return result != 0 ? RUN_FAILED : RUN_DONE;
	over = 1 + (uint64_t)((gethrtime() - tk->tk_due) / tk->tk_interval);
	tk->tk_due += (hrtime_t)over * tk->tk_interval;
	if (tk->tk_left != 0)
		tk->tk_left = tk->tk_left > over ? tk->tk_left - over : 1;
	return result != 0 ? RUN_FAILED : RUN_ON;
}

/* The process is gone.  Was that by exit(2)? */
static int
run_ended(const pctx_t *px)
{
	if (px->px_exited)
		return 0;
	if (px->px_verbose)
		pctx_say(px->px_errfn, "run", "pid %d was killed\n",
		    (int)px->px_pid);
	return -1;
}

static int
run_begin(pctx_t *px)
{
	if (px->px_began)
		return 0;
	px->px_began = true;
	if (call_for_all(px, px->px_init_lwp) == 0)
		return 0;
	if (px->px_verbose)
		pctx_say(px->px_errfn, "run", "%d: lwp discovery failed\n",
		    (int)px->px_pid);
	pctx_say(
	    px->px_errfn, "run", "lost control of pid %d\n", (int)px->px_pid);
	return -1;
}

int
pctx_run(pctx_t *pctx, uint_t msec, uint_t nsamples,
    int (*fn)(pctx_t *, pid_t, id_t, void *))
{
	struct ticks tk = { -1, msec * MS, nsamples, fn };
	struct barecpc_control_event ev;
	enum outcome how = RUN_ON;

	if (pctx == NULL) {
		errno = EINVAL;
		return -1;
	}
	if (run_begin(pctx) != 0)
		return -1;
	if (msec != 0)
		tk.tk_due = gethrtime() + tk.tk_interval;
	while (how == RUN_ON) {
		if (pctx_control(BARECPC_CONTROL_WAIT, pctx->px_pid,
			(long)tk.tk_due, &ev) == -1) {
			if (errno == EINTR)
				continue;
			return errno == ECANCELED ? 0 : run_ended(pctx);
		}
		how = ev.be_what == BARECPC_EVENT_TICK
		          ? tick(pctx, &tk, ev.be_arg != 0)
		          : handle(pctx, &ev);
	}
	return how == RUN_FAILED ? -1 : 0;
}
