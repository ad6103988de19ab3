/* Declarations that the files of libpctx share.  Included by cpc/. */
#pragma once

#include <stdbool.h>

#include <libpctx.h>
#include <sys/barecpc.h>

struct __pctx {
	struct __pctx *px_next; /* in the list of all */
	pid_t px_pid;
	bool px_created;   /* a child of this process, which reaps it */
	bool px_began;     /* init_lwp was called for its LWPs */
	unsigned px_execs; /* LWPs in exec(2), for which fini_lwp was called */
	bool px_exited;    /* its exit(2) was seen */
	int px_verbose;
	void *px_arg;
	pctx_errfn_t *px_errfn;
	pctx_init_lwpfn_t *px_init_lwp;
	pctx_fini_lwpfn_t *px_fini_lwp;
	pctx_sysc_lwp_createfn_t *px_lwp_create;
	pctx_sysc_lwp_exitfn_t *px_lwp_exit;
	pctx_sysc_execfn_t *px_exec_done;
	pctx_sysc_forkfn_t *px_fork;
	pctx_sysc_exitfn_t *px_exit;
};

/* pctx.c: give errfn a message of the function `fn`. */
void pctx_say(pctx_errfn_t *errfn, const char *fn, const char *fmt, ...);
/* A handle for a process that the caller controls.  NULL: ENOMEM. */
pctx_t *pctx_new(pid_t pid, void *arg, int verbose, pctx_errfn_t *errfn);
/* Forget all handles: they were made before fork(2). */
void pctx_forget_all(void);
/* Does a handle control this process?  Needs no lock of the caller's. */
bool pctx_controls(pid_t pid);

/* The system call: a result, or -1 with errno. */
long pctx_control(int op, pid_t pid, long a, void *b);
