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
#include "payloads/cputrack/cpc_tool.h"
#include "payloads/tools/out_file.h"

#define NS          1e9
#define SECONDS_MAX 4e6 /* of pctx_run()'s milliseconds */

static const char arguments[] =
    "-c spec [-c spec]... [-T secs] [-N count] [-efntvD] [-o file] "
    "command [args] | -p pid";

static unsigned interval_ms = 1000, nsamples;
static bool follow_exec, follow_fork, verbose;
static const char *file; /* -o */
static pid_t captured;   /* -p, or 0 */
static FILE *out;
static hrtime_t start;
static bool failed, over;

/* The counts of each set: the sum of all LWPs that ended. */
static cpc_buf_t *process_total[TOOL_SPECS];
static cpc_set_t *model[TOOL_SPECS]; /* for the buffers of process_total */

/* An LWP.  Its sets are its own: a set is bound to one LWP only. */
static struct tracked {
	struct tracked *tr_next;
	id_t tr_id;
	unsigned tr_current; /* the set that is bound */
	cpc_set_t *tr_set[TOOL_SPECS];
	cpc_buf_t *tr_now[TOOL_SPECS], *tr_before[TOOL_SPECS],
	    *tr_total[TOOL_SPECS];
	cpc_buf_t *tr_ended[TOOL_SPECS]; /* up to the last fini_lwp() */
} * tracked;

/* Rows */

static void
print_titles(void)
{
	if (tool.no_titles)
		return;
	fprintf(out, "%7s ", "time");
	if (follow_fork)
		fprintf(out, "%6s ", "pid");
	fprintf(out, "%3s %10s ", "lwp", "event");
	spec_titles(out, tool.specs[0], tool.ticks);
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
	hrtime_t at = cpc_buf_hrtime(tool.cpc, buf);

	begin_row(at != 0 ? at : gethrtime(), pid, id, event);
	spec_values(out, tool.cpc, tool.specs[s], buf, tool.ticks);
	if (tool.nspecs > 1)
		fprintf(out, " # %s", tool.specs[s]->spc_text);
	fprintf(out, "\n");
	fflush(out);
}

/* A set that was never sampled has no row. */
static void
print_sampled(pid_t pid, id_t id, const char *event, cpc_buf_t *const *bufs)
{
	for (unsigned s = 0; s < tool.nspecs; s++) {
		if (cpc_buf_hrtime(tool.cpc, bufs[s]) != 0)
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

/* LWPs */

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
	for (unsigned s = 0; s < tool.nspecs; s++) {
		tr->tr_set[s] = spec_set(tool.cpc, tool.specs[s]);
		tr->tr_now[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, tr->tr_set[s]));
		tr->tr_before[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, tr->tr_set[s]));
		tr->tr_total[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, tr->tr_set[s]));
		tr->tr_ended[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, tr->tr_set[s]));
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
	for (unsigned s = 0; s < tool.nspecs; s++) {
		cpc_buf_destroy(tool.cpc, tr->tr_now[s]);
		cpc_buf_destroy(tool.cpc, tr->tr_before[s]);
		cpc_buf_destroy(tool.cpc, tr->tr_total[s]);
		cpc_buf_destroy(tool.cpc, tr->tr_ended[s]);
		cpc_set_destroy(tool.cpc, tr->tr_set[s]);
	}
	free(tr);
}

/* Move the total to what counts as ended. */
static void
end_total(struct tracked *tr)
{
	for (unsigned s = 0; s < tool.nspecs; s++) {
		cpc_buf_add(tool.cpc, tr->tr_ended[s], tr->tr_ended[s],
		    tr->tr_total[s]);
		cpc_buf_zero(tool.cpc, tr->tr_total[s]);
	}
}

static int
cannot_bind(pid_t pid, id_t id)
{
	fprintf(stderr,
	    "%6d: init_lwp: can't bind perf counters to lwp%d - %s\n", (int)pid,
	    (int)id, strerror(errno));
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

/* Sample the bound set: what is new into tr_before, all into tr_total. */
static int
sample_lwp(struct tracked *tr)
{
	unsigned s = tr->tr_current;
	cpc_buf_t *last = tr->tr_before[s];

	if (cpc_set_sample(tool.cpc, tr->tr_set[s], tr->tr_now[s]) != 0)
		return -1;
	if (tool.nspecs == 1) {
		/* The values began at 0, and were never bound again. */
		cpc_buf_sub(tool.cpc, last, tr->tr_now[s], tr->tr_total[s]);
		cpc_buf_copy(tool.cpc, tr->tr_total[s], tr->tr_now[s]);
	} else {
		cpc_buf_copy(tool.cpc, last, tr->tr_now[s]);
		cpc_buf_add(
		    tool.cpc, tr->tr_total[s], tr->tr_total[s], tr->tr_now[s]);
	}
	return 0;
}

/* Handlers */

static int
init_lwp(pctx_t *pctx, pid_t pid, id_t id, void *)
{
	struct tracked *tr;

	if (over) /* after an exec(2) that is not followed */
		return 0;
	/* An exec(2) that failed has ended the LWP, and it begins again. */
	if ((tr = *find_lwp(id)) == NULL)
		tr = add_lwp(id);
	tr->tr_current = 0;
	if (cpc_bind_pctx(tool.cpc, pctx, id, tr->tr_set[0], 0) != 0 ||
	    sample_lwp(tr) != 0)
		return cannot_bind(pid, id);
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
	for (unsigned s = 0; s < tool.nspecs; s++)
		cpc_buf_add(tool.cpc, process_total[s], process_total[s],
		    tr->tr_total[s]);
	end_total(tr);
	if (verbose)
		print_sampled(pid, id, "fini_lwp", tr->tr_ended);
	cpc_unbind(tool.cpc, tr->tr_set[tr->tr_current]);
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
	zero = fail_unless_room(cpc_buf_create(tool.cpc, tr->tr_set[0]));
	print_row(pid, id, "lwp_create", 0, zero);
	cpc_buf_destroy(tool.cpc, zero);
	return 0;
}

static int
lwp_exit(pctx_t *pctx, pid_t pid, id_t id, void *arg)
{
	struct tracked *tr = *find_lwp(id);

	(void)pctx, (void)arg;
	if (tr != NULL) {
		end_total(tr);
		print_sampled(pid, id, "lwp_exit", tr->tr_ended);
	}
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
	for (unsigned s = 0; s < tool.nspecs; s++)
		cpc_buf_zero(tool.cpc, process_total[s]);
}

static int
exec_done(pctx_t *pctx, pid_t pid, id_t id, char *command, void *)
{
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
tick(pctx_t *pctx, pid_t pid, id_t id, void *)
{
	struct tracked *tr = *find_lwp(id);

	if (tr == NULL)
		return 0;
	unsigned s = tr->tr_current;
	unsigned next = (s + 1) % tool.nspecs;
	if (sample_lwp(tr) != 0)
		return cannot_sample(pid, "tick", id);
	print_row(pid, id, "tick", s, tr->tr_before[s]);
	tr->tr_current = next;
	if (next != s &&
	    cpc_bind_pctx(tool.cpc, pctx, id, tr->tr_set[next], 0) != 0)
		return cannot_sample(pid, "tick", id);
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
process_fork(pctx_t *pctx, pid_t parent, id_t child, pid_t lwp, void *)
{
	char number[16];

	/* The file so far is the parent's. */
	if (file != NULL) {
		close_or_fail(out);
		out = fail_unless_room(out_open(file));
	}
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
interrupted(int)
{
	pctx_terminate(running);
}

static void
parse_options(int argc, char **argv)
{
	static const char letters[] = "+:c:T:N:o:p:efntvDh";
	double seconds;
	int c;

	while ((c = usage_option(argc, argv, letters, NULL)) != -1) {
		switch (c) {
		case 'T':
			seconds = tool_number(optarg, SECONDS_MAX);
			interval_ms = (unsigned)(seconds * 1000 + 0.5);
			if (interval_ms == 0 && seconds > 0)
				tool_invalid(optarg);
			break;
		case 'N':
			nsamples = tool_whole(optarg);
			break;
		case 'o':
			file = optarg;
			break;
		case 'p':
			captured = (pid_t)tool_whole(optarg);
			break;
		case 'e':
			follow_exec = true;
			break;
		case 'f':
			follow_fork = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			tool_option(c);
		}
	}
	if (tool.nspecs == 0 || (captured != 0) == (optind < argc))
		usage_mistake("give -c, and either a command or -p");
}

static pctx_t *
capture_or_create(char **command)
{
	pctx_t *pctx;

	if (captured != 0) {
		pctx = pctx_capture(captured, NULL, verbose, tool_message);
		if (pctx == NULL)
			fail(1, "failed to capture pid %d", (int)captured);
	} else {
		pctx = pctx_create(
		    command[0], command, NULL, verbose, tool_message);
		if (pctx == NULL)
			fail(1, "failed to start program '%s'", command[0]);
	}
	return pctx;
}

int
main(int argc, char **argv)
{
	main_argc = argc;
	main_argv = argv;
	out = stdout;
	tool_open(arguments, "performance counter library");
	parse_options(argc, argv);
	for (unsigned s = 0; s < tool.nspecs; s++) {
		model[s] = spec_set(tool.cpc, tool.specs[s]);
		process_total[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, model[s]));
	}
	if (file != NULL && (out = out_open(file)) == NULL)
		fail(1, "cannot open '%s' for writing", file);
	print_titles();
	running = capture_or_create(argv + optind);
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
	start = gethrtime();
	int result = run(running);
	pctx_release(running);
	while (waitpid(-1, NULL, 0) > 0) /* those that follow children */
		continue;
	out_close(out, argc, argv);
	return result != 0 || failed;
}
