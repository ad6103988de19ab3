/* libpctx: creates, captures and releases processes.  pctx_run.c runs them. */
#define _GNU_SOURCE /* pipe2() */
#include "cpc/pctx/pctx.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* All handles, which a sample of a set looks through. */
static pctx_t *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

/* With all signals blocked, so that a handler never waits for its own LWP. */
static void
lock_all(sigset_t *mask)
{
	sigset_t every;

	sigfillset(&every);
	pthread_sigmask(SIG_BLOCK, &every, mask);
	pthread_mutex_lock(&all_lock);
}

static void
unlock_all(const sigset_t *mask)
{
	pthread_mutex_unlock(&all_lock);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

long
pctx_control(int op, pid_t pid, long a, void *b)
{
	return syscall(BARECPC_SYS_CONTROL, (long)op, (long)pid, a, b);
}

void
pctx_say(pctx_errfn_t *errfn, const char *fn, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (errfn != NULL) {
		errfn(fn, fmt, ap);
	} else {
		fprintf(stderr, "libpctx: pctx_%s: ", fn);
		vfprintf(stderr, fmt, ap);
	}
	va_end(ap);
}

pctx_t *
pctx_new(pid_t pid, void *arg, int verbose, pctx_errfn_t *errfn)
{
	pctx_t *px = calloc(1, sizeof *px);
	sigset_t mask;

	if (px == NULL)
		return NULL;
	px->px_pid = pid;
	px->px_verbose = verbose;
	px->px_arg = arg;
	px->px_errfn = errfn;
	lock_all(&mask);
	px->px_next = all;
	all = px;
	unlock_all(&mask);
	return px;
}

void
pctx_forget_all(void)
{
	sigset_t mask;

	lock_all(&mask);
	all = NULL;
	unlock_all(&mask);
}

bool
pctx_controls(pid_t pid)
{
	const pctx_t *px;
	sigset_t mask;

	lock_all(&mask);
	for (px = all; px != NULL && px->px_pid != pid;)
		px = px->px_next;
	unlock_all(&mask);
	return px != NULL;
}

/* Creating */

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Find the program in a list of folders.  The result fits size bytes. */
static bool
search_path(const char *list, const char *name, char *path, size_t size)
{
	while (*list != '\0') {
		size_t n = strcspn(list, ":");

		if (snprintf(path, size, "%.*s%s%s", (int)n, list,
			n != 0 ? "/" : "", name) < (int)size &&
		    is_file(path))
			return true;
		list += list[n] == ':' ? n + 1 : n;
	}
	return false;
}

static bool
find_program(const char *name, char *path, size_t size)
{
	const char *list = getenv("PATH");

	if (strchr(name, '/') == NULL && list != NULL &&
	    search_path(list, name, path, size))
		return true;
	return snprintf(path, size, "%s", name) < (int)size && is_file(path);
}

/* The child: tell the parent that it can wait now. */
static _Noreturn void
start_program(const char *path, char *const *argv, int ready)
{
	extern char **environ;

	if (pctx_control(BARECPC_CONTROL_ME, 0, 0, NULL) == 0 &&
	    write(ready, "", 1) == 1)
		execve(path, argv, environ);
	_exit(127);
}

/* Wait until the child is about to run the program.  False: it has failed. */
static bool
wait_for_exec(pid_t pid, int ready)
{
	struct barecpc_control_event ev = { 0 };
	ssize_t n;
	char byte;

	while ((n = read(ready, &byte, 1)) == -1 && errno == EINTR)
		continue;
	while (n == 1 && ev.be_what != BARECPC_EVENT_EXEC) {
		if (pctx_control(BARECPC_CONTROL_WAIT, pid, -1, &ev) == -1 &&
		    errno != EINTR)
			return false;
	}
	return n == 1;
}

pctx_t *
pctx_create(const char *filename, char *const *argv, void *arg, int verbose,
    pctx_errfn_t *errfn)
{
	static const char fn[] = "create";
	char path[4096];
	int ready[2];
	pctx_t *px = NULL;
	pid_t pid;

	if (filename == NULL || argv == NULL) {
		errno = EINVAL;
		return NULL;
	}
	if (!find_program(filename, path, sizeof path)) {
		pctx_say(errfn, fn, "cannot find program '%s'\n", filename);
		return NULL;
	}
	if (pipe2(ready, O_CLOEXEC) == -1) {
		pctx_say(errfn, fn, "cannot fork, program '%s'\n", filename);
		return NULL;
	}
	if ((pid = fork()) == 0)
		start_program(path, argv, ready[1]);
	close(ready[1]);
	if (pid == -1) {
		pctx_say(errfn, fn, "cannot fork, program '%s'\n", filename);
	} else if (!wait_for_exec(pid, ready[0])) {
		pctx_say(errfn, fn, "cannot execute program '%s'\n", filename);
	} else if ((px = pctx_new(pid, arg, verbose, errfn)) == NULL) {
		pctx_say(errfn, fn, "out of memory\n");
	} else {
		px->px_created = true;
	}
	close(ready[0]);
	if (px == NULL && pid != -1) {
		pctx_control(BARECPC_CONTROL_RELEASE, pid, 0, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return px;
}

/* Capturing and releasing */

static void
say_not_captured(pctx_errfn_t *errfn, pid_t pid, int err)
{
	if (err == EINVAL)
		pctx_say(errfn, "capture", "cannot capture self!\n");
	else if (err == ENOMEM)
		pctx_say(errfn, "capture", "out of memory\n");
	else
		pctx_say(errfn, "capture", "pid %d%s\n", (int)pid,
		    err == ECHILD  ? " is a zombie"
		    : err == EPERM ? ": permission denied"
		    : err == EBUSY || err == EDEADLK
			? " is already being traced"
			: " doesn't exist");
}

pctx_t *
pctx_capture(pid_t pid, void *arg, int verbose, pctx_errfn_t *errfn)
{
	pctx_t *px;

	if (pid == 0) { /* the kernel's */
		pctx_say(errfn, "capture", "pid %d is a system process\n", 0);
		return NULL;
	}
	while (pctx_control(BARECPC_CONTROL_CAPTURE, pid, 0, NULL) == -1) {
		if (errno != EINTR) {
			say_not_captured(errfn, pid, errno);
			return NULL;
		}
	}
	if ((px = pctx_new(pid, arg, verbose, errfn)) == NULL) {
		pctx_control(BARECPC_CONTROL_RELEASE, pid, 0, NULL);
		say_not_captured(errfn, pid, ENOMEM);
	}
	return px;
}

void
pctx_release(pctx_t *pctx)
{
	pctx_t **link = &all;
	sigset_t mask;

	if (pctx == NULL)
		return;
	lock_all(&mask);
	while (*link != NULL && *link != pctx)
		link = &(*link)->px_next;
	if (*link != NULL)
		*link = pctx->px_next;
	unlock_all(&mask);
	pctx_control(BARECPC_CONTROL_RELEASE, pctx->px_pid, 0, NULL);
	/* It was killed, or has ended before. */
	if (pctx->px_created)
		while (waitpid(pctx->px_pid, NULL, 0) == -1 && errno == EINTR)
			continue;
	free(pctx);
}

void
pctx_terminate(pctx_t *pctx)
{
	int err = errno;

	if (pctx != NULL)
		pctx_control(BARECPC_CONTROL_CANCEL, pctx->px_pid, 0, NULL);
	errno = err;
}
