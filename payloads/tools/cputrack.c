/*
 * cputrack: counts events of a program, of each of its LWPs, as Solaris's
 * program of this name does.
 *
 *	cputrack -c spec [-c spec]... [-T secs] [-N count] [-efntvD] [-o file]
 *	    command [args] | -p pid
 *
 * With several specifications each interval counts another one.
 */
#include <libcpc.h>
#include <libpctx.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "payloads/common/usage.h"
#include "payloads/tools/event_spec.h"
#include "payloads/tools/out_file.h"

#define SPECS 32
#define NS    1e9

static const char arguments[] =
    "-c spec [-c spec]... [-T secs] [-N count] [-efntvD] [-o file] "
    "command [args] | -p pid";

static cpc_t *cpc;
static struct spec *specs[SPECS];
static unsigned nspecs;
static unsigned interval_ms = 1000, nsamples;
static bool follow_exec, follow_fork, no_titles, ticks, verbose;
static FILE *out;
static hrtime_t start;
static bool failed, over;

/* The counts of each set: the sum of all LWPs that ended. */
static cpc_buf_t *process_total[SPECS];
static cpc_set_t *model[SPECS]; /* for the buffers of process_total */

/* An LWP.  Its sets are its own: a set is bound to one LWP only. */
static struct tracked {
	struct tracked *tr_next;
	id_t tr_id;
	unsigned tr_current; /* the set that is bound */
	cpc_set_t *tr_set[SPECS];
	cpc_buf_t *tr_now[SPECS], *tr_before[SPECS], *tr_total[SPECS];
} * tracked;

/*
 * Rows
 */

static void
print_titles(void)
{
	if (no_titles)
		return;
	fprintf(out, "%7s ", "time");
	if (follow_fork)
		fprintf(out, "%6s ", "pid");
	fprintf(out, "%3s %10s ", "lwp", "event");
	spec_titles(out, specs[0], ticks);
	fprintf(out, "\n");
	fflush(out);
}

static void
begin_row(hrtime_t at, pid_t pid, id_t id, const char *event)
{
	fprintf(out, "%7.3f ", (double)(at - start) / NS);
	if (follow_fork)
		fprintf(out, "%6d ", (int)pid);
	fprintf(out, "%3d %10s ", (int)id, event);
}

static void
print_row(pid_t pid, id_t id, const char *event, unsigned s, cpc_buf_t *buf)
{
	hrtime_t at = cpc_buf_hrtime(cpc, buf);

	begin_row(at != 0 ? at : gethrtime(), pid, id, event);
	spec_values(out, cpc, specs[s], buf, ticks);
	if (nspecs > 1)
		fprintf(out, " # %s", specs[s]->spc_text);
	fprintf(out, "\n");
	fflush(out);
}

/* A set that was never sampled has no row. */
static void
print_sampled(pid_t pid, id_t id, const char *event, cpc_buf_t *const *bufs)
{
	for (unsigned s = 0; s < nspecs; s++) {
		if (cpc_buf_hrtime(cpc, bufs[s]) != 0)
			print_row(pid, id, event, s, bufs[s]);
	}
}

static void
print_note(
    pid_t pid, id_t id, const char *event, const char *fmt, const char *s)
{
	begin_row(gethrtime(), pid, id, event);
	fprintf(out, "%9s %9s # ", "", "");
	fprintf(out, fmt, s);
	fprintf(out, "\n");
	fflush(out);
}

/*
 * LWPs
 */

static struct tracked **
find_lwp(id_t id)
{
	struct tracked **link = &tracked;

	while (*link != NULL && (*link)->tr_id != id)
		link = &(*link)->tr_next;
	return link;
}

static struct tracked *
add_lwp(id_t id)
{
	struct tracked *tr = fail_unless_room(calloc(1, sizeof *tr));

	tr->tr_id = id;
	for (unsigned s = 0; s < nspecs; s++) {
		tr->tr_set[s] = spec_set(cpc, specs[s]);
		tr->tr_now[s] =
		    fail_unless_room(cpc_buf_create(cpc, tr->tr_set[s]));
		tr->tr_before[s] =
		    fail_unless_room(cpc_buf_create(cpc, tr->tr_set[s]));
		tr->tr_total[s] =
		    fail_unless_room(cpc_buf_create(cpc, tr->tr_set[s]));
	}
	tr->tr_next = tracked;
	return tracked = tr;
}

static void
remove_lwp(id_t id)
{
	struct tracked **link = find_lwp(id), *tr = *link;

	if (tr == NULL)
		return;
	*link = tr->tr_next;
	for (unsigned s = 0; s < nspecs; s++) {
		cpc_buf_destroy(cpc, tr->tr_now[s]);
		cpc_buf_destroy(cpc, tr->tr_before[s]);
		cpc_buf_destroy(cpc, tr->tr_total[s]);
		cpc_set_destroy(cpc, tr->tr_set[s]);
	}
	free(tr);
}

static int
cannot_bind(pid_t pid, const char *handler, id_t id)
{
	fprintf(stderr, "%6d: %s: can't bind perf counters to lwp%d - %s\n",
	    (int)pid, handler, (int)id, strerror(errno));
	failed = true;
	return -1;
}

static int
cannot_sample(pid_t pid, const char *handler, id_t id)
{
	if (errno == EAGAIN)
		fprintf(stderr,
		    "%6d: %s: lwp%d: perf counter contents invalidated\n",
		    (int)pid, handler, (int)id);
	else
		fprintf(stderr,
		    "%6d: %s: lwp%d: can't access perf counters - %s\n",
		    (int)pid, handler, (int)id, strerror(errno));
	failed = true;
	return -1;
}

/*
 * Sample the bound set.  tr_before gets what was counted since the last time,
 * tr_total all of it.
 */
static int
sample_lwp(struct tracked *tr)
{
	unsigned s = tr->tr_current;
	cpc_buf_t *last = tr->tr_before[s];

	if (cpc_set_sample(cpc, tr->tr_set[s], tr->tr_now[s]) != 0)
		return -1;
	if (nspecs == 1) {
		/* The values began at 0, and were never bound again. */
		cpc_buf_sub(cpc, last, tr->tr_now[s], tr->tr_total[s]);
		cpc_buf_copy(cpc, tr->tr_total[s], tr->tr_now[s]);
	} else {
		cpc_buf_copy(cpc, last, tr->tr_now[s]);
		cpc_buf_add(
		    cpc, tr->tr_total[s], tr->tr_total[s], tr->tr_now[s]);
	}
	return 0;
}

/*
 * Handlers
 */

static int
init_lwp(pctx_t *pctx, pid_t pid, id_t id, void *arg)
{
	struct tracked *tr;

	(void)arg;
	if (over) /* after an exec(2) that is not followed */
		return 0;
	tr = add_lwp(id);
	if (cpc_bind_pctx(cpc, pctx, id, tr->tr_set[0], 0) != 0)
		return cannot_bind(pid, "init_lwp", id);
	if (sample_lwp(tr) != 0)
		return cannot_sample(pid, "init_lwp", id);
	if (verbose)
		print_row(pid, id, "init_lwp", 0, tr->tr_total[0]);
	return 0;
}

static int
fini_lwp(pctx_t *pctx, pid_t pid, id_t id, void *arg)
{
	struct tracked *tr = *find_lwp(id);

	(void)pctx, (void)arg;
	if (tr == NULL)
		return 0;
	if (sample_lwp(tr) != 0)
		return cannot_sample(pid, "fini_lwp", id);
	if (verbose)
		print_sampled(pid, id, "fini_lwp", tr->tr_total);
	for (unsigned s = 0; s < nspecs; s++)
		cpc_buf_add(
		    cpc, process_total[s], process_total[s], tr->tr_total[s]);
	cpc_unbind(cpc, tr->tr_set[tr->tr_current]);
	return 0;
}

static int
lwp_create(pctx_t *pctx, pid_t pid, id_t id, void *arg)
{
	struct tracked *tr = *find_lwp(id);
	cpc_buf_t *zero;

	(void)pctx, (void)arg;
	if (tr == NULL)
		return 0;
	zero = fail_unless_room(cpc_buf_create(cpc, tr->tr_set[0]));
	print_row(pid, id, "lwp_create", 0, zero);
	cpc_buf_destroy(cpc, zero);
	return 0;
}

static int
lwp_exit(pctx_t *pctx, pid_t pid, id_t id, void *arg)
{
	struct tracked *tr = *find_lwp(id);

	(void)pctx, (void)arg;
	if (tr != NULL)
		print_sampled(pid, id, "lwp_exit", tr->tr_total);
	remove_lwp(id);
	return 0;
}

static void
forget_lwps(void)
{
	while (tracked != NULL)
		remove_lwp(tracked->tr_id);
}

static void
zero_totals(void)
{
	for (unsigned s = 0; s < nspecs; s++)
		cpc_buf_zero(cpc, process_total[s]);
}

static int
exec_done(pctx_t *pctx, pid_t pid, id_t id, char *command, void *arg)
{
	(void)arg;
	print_sampled(pid, id, "exec", process_total);
	print_note(pid, id, "exec", "'%s'", command);
	forget_lwps();
	zero_totals();
	if (!follow_exec) {
		over = true;
		pctx_terminate(pctx);
	}
	return 0;
}

static void
process_exit(pctx_t *pctx, pid_t pid, id_t id, int status, void *arg)
{
	(void)pctx, (void)status, (void)arg;
	print_sampled(pid, id, "exit", process_total);
	forget_lwps();
}

/* The latest interval; then the next set is bound over this one. */
static int
tick(pctx_t *pctx, pid_t pid, id_t id, void *arg)
{
	struct tracked *tr = *find_lwp(id);
	unsigned s;

	(void)arg;
	if (tr == NULL)
		return 0;
	s = tr->tr_current;
	if (sample_lwp(tr) != 0)
		return cannot_sample(pid, "tick", id);
	print_row(pid, id, "tick", s, tr->tr_before[s]);
	if (nspecs == 1)
		return 0;
	tr->tr_current = (s + 1) % nspecs;
	if (cpc_bind_pctx(cpc, pctx, id, tr->tr_set[tr->tr_current], 0) != 0)
		return cannot_bind(pid, "tick", id);
	return 0;
}

static void process_fork(
    pctx_t *pctx, pid_t parent, id_t child, pid_t lwp, void *arg);

static int
run(pctx_t *pctx)
{
	pctx_set_events(pctx, PCTX_INIT_LWP_EVENT, init_lwp,
	    PCTX_FINI_LWP_EVENT, fini_lwp, PCTX_SYSC_LWP_CREATE_EVENT,
	    lwp_create, PCTX_SYSC_LWP_EXIT_EVENT, lwp_exit,
	    PCTX_SYSC_EXEC_EVENT, exec_done, PCTX_SYSC_EXIT_EVENT, process_exit,
	    PCTX_SYSC_FORK_EVENT, follow_fork ? process_fork : NULL,
	    PCTX_NULL_EVENT);
	return pctx_run(pctx, interval_ms, nsamples, tick);
}

static int main_argc;
static char **main_argv;

/* It runs in a copy of this program (pctx_set_events(3CPC)). */
static void
process_fork(pctx_t *pctx, pid_t parent, id_t child, pid_t lwp, void *arg)
{
	char number[16];

	(void)arg;
	snprintf(number, sizeof number, "%d", (int)child);
	print_note(parent, (id_t)lwp, "fork", "%s", number);
	forget_lwps();
	zero_totals();
	run(pctx);
	out_close(out, main_argc, main_argv);
	while (waitpid(-1, NULL, 0) > 0)
		continue;
}

static pctx_t *running;

static void
interrupted(int sig)
{
	(void)sig;
	pctx_terminate(running);
}

static double
number(const char *text)
{
	char *end;
	double d = strtod(text, &end);

	if (end == text || *end != '\0' || !(d >= 0) || d > 4e6)
		usage_mistake("invalid argument \"%s\"", text);
	return d;
}

int
main(int argc, char **argv)
{
	const char *texts[SPECS], *file = NULL;
	pid_t pid = 0;
	int c, result;

	main_argc = argc;
	main_argv = argv;
	out = stdout;
	usage_is(arguments, "");
	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		fail(1, "cannot access performance counter library - %s",
		    strerror(errno));
	while ((c = getopt(argc, argv, "+:c:T:N:o:p:efntvDh")) != -1) {
		switch (c) {
		case 'c':
			if (nspecs == SPECS)
				usage_mistake("too many -c");
			texts[nspecs++] = optarg;
			break;
		case 'T':
			interval_ms = (unsigned)(number(optarg) * 1000 + 0.5);
			break;
		case 'N':
			nsamples = (unsigned)number(optarg);
			break;
		case 'o':
			file = optarg;
			break;
		case 'p':
			pid = (pid_t)number(optarg);
			break;
		case 'e':
			follow_exec = true;
			break;
		case 'f':
			follow_fork = true;
			break;
		case 'n':
			no_titles = true;
			break;
		case 't':
			ticks = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 'D':
			break;
		case 'h':
			spec_help(stdout, cpc, usage_name(), arguments);
			return 0;
		default:
			usage_mistake("-%c: %s", optopt,
			    c == ':' ? "a value is missing" : "unknown option");
		}
	}
	if (nspecs == 0 || (pid != 0) == (optind < argc))
		usage_mistake("give -c, and either a command or -p");
	for (unsigned s = 0; s < nspecs; s++) {
		specs[s] = spec_parse(cpc, texts[s]);
		model[s] = spec_set(cpc, specs[s]);
		process_total[s] =
		    fail_unless_room(cpc_buf_create(cpc, model[s]));
	}
	if (file != NULL && (out = out_open(file)) == NULL)
		fail(1, "cannot open '%s' for writing", file);
	print_titles();
	if (pid != 0)
		running = pctx_capture(pid, NULL, verbose, NULL);
	else
		running = pctx_create(
		    argv[optind], argv + optind, NULL, verbose, NULL);
	if (running == NULL && pid != 0)
		fail(1, "failed to capture pid %d", (int)pid);
	if (running == NULL)
		fail(1, "failed to start program '%s'", argv[optind]);
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
	start = gethrtime();
	result = run(running);
	pctx_release(running);
	while (waitpid(-1, NULL, 0) > 0) /* those that follow children */
		continue;
	out_close(out, argc, argv);
	return result != 0 || failed;
}
