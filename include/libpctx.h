/*
 * Control of another process, for counting it without its help.  Included by
 * <libcpc.h> and by programs.  Source-compatible with libpctx(3LIB) of Solaris
 * and illumos.
 *
 * A controller creates or captures a process, sets handlers for its events, and
 * runs it.  The process is stopped while a handler runs.  There a handler binds
 * sets to the process's LWPs with cpc_bind_pctx() and samples them with
 * cpc_set_sample().
 *
 * The LWP that made a pctx_t makes all calls on it.  Only pctx_terminate() may
 * be called elsewhere, also in a signal handler.
 */
#ifndef LIBPCTX_H
#define LIBPCTX_H

#include <stdarg.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A controlled process.  Opaque. */
typedef struct __pctx pctx_t;

/* Gets each message: the function without "pctx_", and a line for vprintf(). */
typedef void(pctx_errfn_t)(const char *fn, const char *fmt, va_list ap);

/*
 * Start the program, stopped before its first instruction.  It is killed when
 * it is released, or when the controller ends.  A name without a slash is
 * searched for in PATH, then in the working directory.  Handlers get arg.
 *
 * If verbose is not 0, more messages are printed.  They go to errfn, or to
 * standard error if that is NULL.
 * Returns NULL after a message.  pctx_create(3CPC).
 */
pctx_t *pctx_create(const char *filename, char *const *argv, void *arg,
    int verbose, pctx_errfn_t *errfn);
/*
 * Stop a running process and control it.  It goes on when it is released, or
 * when the controller ends.  It must descend from the caller, unless that has
 * the privilege cpc_cpu.  Returns NULL after a message.  pctx_create(3CPC).
 */
pctx_t *pctx_capture(pid_t pid, void *arg, int verbose, pctx_errfn_t *errfn);

typedef enum {
	PCTX_NULL_EVENT = 0,
	PCTX_SYSC_EXEC_EVENT = 1,
	PCTX_SYSC_FORK_EVENT = 2,
	PCTX_SYSC_EXIT_EVENT = 3,
	PCTX_SYSC_LWP_CREATE_EVENT = 4,
	PCTX_INIT_LWP_EVENT = 5,
	PCTX_FINI_LWP_EVENT = 6,
	PCTX_SYSC_LWP_EXIT_EVENT = 7
} pctx_event_t;

/*
 * The handlers of these events.  The LWP is the one that caused the event.
 * Results other than 0 end the run with -1, except for lwp_exit, and for
 * fini_lwp of an LWP that ends or before exec(2).
 *
 * The handler init_lwp is called for each LWP when the run begins.  It is
 * called for each new LWP before it runs, and for LWP 1 of a new program.
 *
 * The handler fini_lwp is called before an LWP ends, and for each LWP before
 * exit(2) and exec(2).  Then its counts can still be sampled.  If exec(2)
 * fails, init_lwp is called for each LWP again.
 */
typedef int pctx_init_lwpfn_t(pctx_t *, pid_t, id_t, void *arg);
typedef int pctx_fini_lwpfn_t(pctx_t *, pid_t, id_t, void *arg);
/* After init_lwp of the new LWP. */
typedef int pctx_sysc_lwp_createfn_t(pctx_t *, pid_t, id_t, void *arg);
/* After fini_lwp of the LWP. */
typedef int pctx_sysc_lwp_exitfn_t(pctx_t *, pid_t, id_t, void *arg);
/* Between fini_lwp and init_lwp.  cmd: the new program's arguments. */
typedef int pctx_sysc_execfn_t(pctx_t *, pid_t, id_t, char *cmd, void *arg);
/* After fini_lwp, once.  status: the argument of exit(2). */
typedef void pctx_sysc_exitfn_t(pctx_t *, pid_t, id_t, int status, void *arg);
/*
 * The process forked.  The handler runs in a forked copy of the controller,
 * with a new pctx_t that controls the child and has no handlers yet.  The
 * handler may call pctx_set_events() and pctx_run().  When it returns, the
 * child is released and the copy exits.  Whatever the type says, the arguments
 * are: the parent's pid, the child's pid, the LWP.
 */
typedef void pctx_sysc_forkfn_t(pctx_t *, pid_t, id_t, pid_t child, void *arg);

/*
 * Set handlers: pairs of pctx_event_t and function, ended by PCTX_NULL_EVENT.
 * NULL removes a handler.  Returns 0; or -1 after a message if an event is
 * unknown, with the pairs before it set.  pctx_set_events(3CPC).
 */
int pctx_set_events(pctx_t *pctx, ...);
/*
 * Run the process until it ends.  With msec > 0, also stop it every msec
 * milliseconds and call tick() for each LWP, at most nsamples times (0: no
 * limit).  If a tick is late, those in between are skipped, but counted.
 *
 * Returns 0 if the process exited, after nsamples ticks, after
 * pctx_terminate(), and after exec(2) without a handler for it.  That ends a
 * run only if there are handlers init_lwp or fini_lwp.  Returns -1 if a handler
 * failed or a signal killed the process.  In between the process is stopped.
 * pctx_run(3CPC).
 */
int pctx_run(pctx_t *pctx, uint_t msec, uint_t nsamples,
    int (*tick)(pctx_t *, pid_t, id_t, void *));
/*
 * Free the handle.  Sets bound through it lose their LWPs: a sample then
 * fails with EINVAL, until the set is unbound.  pctx_run(3CPC).
 */
void pctx_release(pctx_t *pctx);
/* pctx_run() returns 0 soon.  Signal-safe.  pctx_run(3CPC). */
void pctx_terminate(pctx_t *pctx);

#ifdef __cplusplus
}
#endif

#endif /* LIBPCTX_H */
