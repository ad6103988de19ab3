/*
 * stat: counts another program, unchanged, and the programs it forks and
 * executes, over their whole lives.  Prints the counts as perf stat does.
 *
 *	stat [-d] [-e event[:uk],...]... [-r runs] [-x separator | -j]
 *	    [-o file] [-I events] [--per-thread] [--timeout ms] [--aggregates]
 *	    [--undisturbed] program [args...]
 *
 * Events that cannot be counted at once are counted group after group, each
 * group in runs of its own, so no count is scaled.  PAPI_tot_ins is counted in
 * every group and shows whether the runs were the same.  A run is disturbed if
 * the sum of all CPUs' interrupts and NMIs differs from that of most runs.
 * SMIs are those of stat's CPU.  stat ends with the program's status.  Each
 * event leaves a record (docs/records.md).
 */
#include "payloads/stat/stat.h"

#include <errno.h>
#include <payload.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "payloads/common/events/perf_names.h"
#include "payloads/common/usage.h"
#include "payloads/tools/child.h"
#include "payloads/tools/out_file.h"

#define INTERVAL_MIN 1000

static const char arguments[] =
    "[-d] [-e event[:uk],...]... [-r runs] [-x separator | -j] [-o file] "
    "[-I events] [--per-thread] [--timeout ms] [--aggregates] "
    "[--undisturbed] program [args...]";
static const char help[] =
    "  -e EVENT[:uk],...  what to count (PAPI_tot_ins,PAPI_tot_cyc); {A,B}:k\n"
    "                     counts A and B in the same runs\n"
    "  -d                 perf's list of events; twice: a longer list\n"
    "  -r RUNS            runs of each group of events (1)\n"
    "  -x SEPARATOR       print fields, as perf stat -x does\n"
    "  -j                 print JSON, as perf stat -j does\n"
    "  -o FILE            write the results to FILE on the host\n"
    "  -I EVENTS          print counts each time a thread has executed this\n"
    "                     many instructions\n"
    "  --per-thread       print the counts of each thread\n"
    "  --timeout MS       end the program after this many milliseconds\n"
    "  --aggregates       print min, median, mean, trimmed mean, error\n"
    "  --undisturbed      exclude disturbed runs, and say which\n";

enum {
	OPTION_AGGREGATES = CHILD_TIMEOUT + 1,
	OPTION_UNDISTURBED,
	OPTION_PER_THREAD,
};
static const struct option long_options[] = {
	{ "timeout", required_argument, NULL, CHILD_TIMEOUT },
	{ "aggregates", no_argument, NULL, OPTION_AGGREGATES },
	{ "undisturbed", no_argument, NULL, OPTION_UNDISTURBED },
	{ "per-thread", no_argument, NULL, OPTION_PER_THREAD },
	{ NULL, 0, NULL, 0 },
};

static char reference_name[] = "PAPI_tot_ins";

struct statistics st = { .runs = 1, .least = UINT64_MAX };

static const char *out_name;
static unsigned detailed;

static void
parse_option(int c)
{
	if (c == 'e')
		add_events(optarg);
	else if (c == 'd')
		detailed++;
	else if (c == 'r')
		st.runs = (unsigned)usage_number(
		    "-r", optarg, 1, OPTIONS_RUNS_MAX, "");
	else if (c == 'x')
		/* perf also takes a backslash and a t for a tab */
		st.separator = strcmp(optarg, "\\t") == 0 ? "\t" : optarg;
	else if (c == 'j')
		st.json = true;
	else if (c == 'o')
		out_name = optarg;
	else if (c == 'I')
		st.interval = usage_number(
		    "-I", optarg, INTERVAL_MIN, INT32_MAX, " instructions");
	else if (c == OPTION_PER_THREAD)
		st.per_thread = true;
	else if (c == OPTION_AGGREGATES)
		st.aggregates = true;
	else if (c == OPTION_UNDISTURBED)
		st.undisturbed = true;
	else
		st.timeout = child_timeout(optarg);
}

static void
parse_options(int argc, char **argv)
{
	int c;

	st.argc = argc;
	st.argv = argv;
	usage_is(arguments, help);
	while ((c = usage_option(argc, argv, "+:e:dr:x:jo:I:", long_options)) !=
	       -1)
		parse_option(c);
	if (st.separator != NULL && *st.separator == '\0')
		usage_mistake("-x: give a separator that is not empty");
	if (st.json && st.separator != NULL)
		usage_mistake("give only one of -x and -j");
	if (st.runs > 1 && rows_wanted())
		usage_mistake("give only one of -r and %s",
		    st.interval != 0 ? "-I" : "--per-thread");
	if (optind == argc)
		usage_mistake("no program to count");
	if (detailed != 0)
		add_detailed(detailed);
	if (st.nevent == 0)
		add_events("PAPI_tot_ins,PAPI_tot_cyc");
	part_events();
	st.program = argv + optind;
	options_event(&st.reference, reference_name);
}

static void
group_open(struct group *g)
{
	runs_open(&g->grp_runs, st.runs);
	g->grp_left_out = fail_unless_room(calloc(st.runs, sizeof(bool)));
	g->grp_ns = fail_unless_room(calloc(st.runs, sizeof(int64_t)));
	g->grp_task = fail_unless_room(calloc(st.runs, sizeof(int64_t)));
	for (unsigned i = 0; i < g->grp_n; i++)
		series_open(&g->grp_event[i].cnt_count, st.runs);
	for (unsigned i = st.nhard; g->grp_soft && i < st.nevent; i++)
		series_open(&st.all[i].cnt_count, st.runs);
}

/* Compute the aggregates of an event, and leave its record. */
static void
event_close(const struct group *g, struct counted *c, const struct series *ns)
{
	for (unsigned run = 0; run < g->grp_runs.rn_n; run++) {
		c->cnt_ns += g->grp_left_out[run] ? 0 : g->grp_task[run];
		c->cnt_elapsed += g->grp_left_out[run] ? 0 : g->grp_ns[run];
	}
	series_close(&c->cnt_count, g->grp_left_out);
	leave_record(c, &g->grp_runs, ns);
}

/* Leave the disturbed runs out, if asked to, and compute the aggregates. */
static void
group_close(struct group *g)
{
	struct runs *rn = &g->grp_runs;
	struct series ns;
	char event[REPORT_EVENT];
	unsigned i, run, first = st.ns.s_n - rn->rn_n;

	runs_judge(rn, NULL, st.undisturbed, 0);
	rn->rn_nexcluded = 0;
	for (run = 0; run < rn->rn_n; run++) {
		if (rn->rn_excluded != NULL && rn->rn_excluded[run])
			g->grp_left_out[run] = st.left_out[first + run] = true;
		rn->rn_nexcluded += g->grp_left_out[run];
	}
	series_open(&ns, st.runs);
	for (run = 0; run < rn->rn_n; run++)
		series_add(&ns, g->grp_ns[run]);
	series_close(&ns, g->grp_left_out);
	for (i = 0; i < g->grp_n; i++)
		event_close(g, &g->grp_event[i], &ns);
	for (i = st.nhard; g->grp_soft && i < st.nevent; i++)
		event_close(g, &st.all[i], &ns);
	series_free(&ns);
	if (rn->rn_ndisturbed != 0 && st.notes == NULL)
		st.notes = fail_unless_room(
		    open_memstream(&st.notes_text, &st.notes_bytes));
	if (rn->rn_ndisturbed != 0)
		runs_print(st.notes,
		    "# stat: ", event_text(event, sizeof event, g->grp_event),
		    "run", rn);
	runs_free(rn);
	free(g->grp_left_out);
	free(g->grp_ns);
	free(g->grp_task);
}

/* The number of events to count in the same runs as the first, which counts. */
static unsigned
group_size(const struct counted *c, unsigned left)
{
	unsigned n = 1;

	while (n < left && c->cnt_group != 0 && c[n].cnt_group == c->cnt_group)
		n++;
	return n;
}

/* The number of events, of the first n, whose groups are complete. */
static unsigned
whole_groups(const struct counted *c, unsigned n)
{
	while (n > 0 && c[n - 1].cnt_group != 0 &&
	       c[n - 1].cnt_group == c[n].cnt_group)
		n--;
	return n;
}

/*
 * Bind as many events as fit together with the reference.  If the reference
 * does not fit, bind the first group without it.  Returns how many events.
 */
static unsigned
bind_some(const struct counted *c, unsigned left, bool *reference)
{
	unsigned n, bound, size = group_size(c, left);
	struct event want[MAXEVENT + 1];
	struct meter *m = &st.meter;

	m->m_period = st.interval;
	want[0] = st.reference;
	for (n = 1; n <= MAXEVENT && n <= left; n++)
		want[n] = c[n - 1].cnt_event;
	*reference = true;
	while ((bound = meter_bind(m, want, n)) > 1) {
		n = bound == left + 1 ? bound : 1 + whole_groups(c, bound - 1);
		if (n == bound)
			return n - 1;
		if (n == 1)
			break;
	}
	*reference = false;
	m->m_period = 0;
	if (size > MAXEVENT)
		return 0;
	return meter_bind(m, want + 1, size) == size ? size : 0;
}

/* Why the meter refused an event.  libcpc knows no event of the kernel. */
static const char *
why_refused(const struct event *e)
{
	static char text[120];
	const char *why = st.meter.m_reason, *soft;
	unsigned best = ~0U;

	soft = soft_nearest(e->e_name, &best);
	if (soft == NULL || !perf_name_mistyped(e->e_name) ||
	    strstr(why, "did you mean") != NULL)
		return why;
	snprintf(text, sizeof text, "%s: Unknown event: did you mean %s?",
	    e->e_name, soft);
	return text;
}

/* Keep why a group is not counted.  For one event libcpc knows the reason. */
static void
refuse_group(struct counted *c, unsigned n)
{
	struct meter *m = &st.meter;
	char text[80];

	snprintf(text, sizeof text,
	    "a group of %u, which this machine does not count at once", n);
	for (unsigned i = 0; i < n; i++) {
		bool all = n > 1 && m->m_subcode != CPC_INVALID_EVENT;

		c[i].cnt_status = all ? NOT_COUNTED : m->m_status;
		c[i].cnt_reason = fail_unless_room(
		    strdup(all ? text : why_refused(&c[i].cnt_event)));
		leave_record(&c[i], NULL, NULL);
	}
}

/* The runs of a group, whose set the meter has bound to find what fits. */
static void
count_group(struct group *g)
{
	static bool soft_done;

	cpc_unbind(st.meter.m_cpc, st.meter.m_set);
	g->grp_soft = !soft_done;
	soft_done = true;
	group_open(g);
	for (unsigned i = 0; i < st.runs && !st.interrupted; i++) {
		run_once(g);
		st.interrupted = st.keys.ck_came || child_interrupt_came();
	}
	/* Interrupted: all groups that have runs have this many. */
	if (st.ns.s_n < st.runs)
		st.runs = st.ns.s_n;
	group_close(g);
	meter_unbind(&st.meter);
}

/* Count the kernel's events alone, in runs of the reference. */
static void
count_soft(void)
{
	struct group g = { .grp_event = &st.all[st.nhard] };

	g.grp_reference = true;
	st.meter.m_period = st.interval;
	if (meter_bind(&st.meter, &st.reference, 1) == 1) {
		count_group(&g);
		return;
	}
	for (unsigned i = st.nhard; i < st.nevent; i++)
		refuse_group(&st.all[i], 1);
}

/* Count the first events of c.  Returns how many are finished. */
static unsigned
count_some(struct counted *c, unsigned left)
{
	struct meter *m = &st.meter;
	struct group g = { .grp_event = c };
	unsigned n = bind_some(c, left, &g.grp_reference);

	if (n == 0) {
		n = group_size(c, left);
		refuse_group(c, n);
		meter_unbind(m);
		return n;
	}
	g.grp_n = n;
	count_group(&g);
	return n;
}

/*
 * An unknown event is a mistake of the command line.  End before the program
 * runs if every event is unknown; else count the others.  An event that this
 * machine lacks is <not supported>.
 */
static void
check_events(void)
{
	unsigned unknown = 0;

	for (unsigned i = 0; st.meter.m_cpc != NULL && i < st.nhard; i++) {
		const struct event *e = &st.all[i].cnt_event;

		unknown += meter_bind(&st.meter, e, 1) == 0 &&
		           perf_name_mistyped(e->e_name);
	}
	for (unsigned i = 0; unknown == st.nevent && i < st.nhard; i++) {
		meter_bind(&st.meter, &st.all[i].cnt_event, 1);
		fprintf(stderr, "%s: %s\n", usage_name(),
		    why_refused(&st.all[i].cnt_event));
	}
	if (unknown == st.nevent)
		exit(2);
	meter_unbind(&st.meter);
}

static void
open_files(void)
{
	st.out = stderr;
	if (out_name != NULL && (st.out = out_open(out_name)) == NULL)
		fail(2, "-o: %s: %s", out_name, strerror(errno));
	/* Each write is a frame on the console, but -I shows counts at once. */
	if (out_name == NULL && st.interval == 0) {
		st.out = fail_unless_room(fdopen(STDERR_FILENO, "w"));
		setvbuf(st.out, NULL, _IOFBF, 0);
	}
	if (st.interval == 0 || st.meter.m_cpc == NULL)
		return;
	if (payload_privilege() == PAYLOAD_SYSTEM)
		fail(77, "<not supported>: -I: only at user privilege");
	if ((cpc_caps(st.meter.m_cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		fail(
		    77, "<not supported>: -I: overflows do not interrupt here");
	/* The set is bound here, too, to find what fits. */
	signal(SIGEMT, SIG_IGN);
}

/*
 * The status to end with: the program's.  A run that counted nothing ends with
 * STATUS_NOTHING_COUNTED, and says why.
 */
static int
end_status(void)
{
	const struct counted *first = &st.all[0];

	for (unsigned i = 0; i < st.nevent; i++) {
		if (st.all[i].cnt_count.s_used != 0)
			return st.status;
	}
	fprintf(stderr, "%s: %s: nothing was counted: %s\n", usage_name(),
	    st.program[0],
	    first->cnt_spoiled != 0 ? first->cnt_spoil : first->cnt_reason);
	return st.status != 0 ? st.status : STATUS_NOTHING_COUNTED;
}

int
main(int argc, char **argv)
{
	unsigned i, rooms;

	parse_options(argc, argv);
	meter_open(&st.meter);
	open_files();
	check_events();
	rooms = st.runs * (st.nevent + 1);
	series_open(&st.ns, rooms);
	st.left_out = fail_unless_room(calloc(rooms, sizeof(bool)));
	for (i = 0; i < st.nhard && !st.interrupted;)
		i += count_some(&st.all[i], st.nhard - i);
	for (; i < st.nhard; i++) {
		st.all[i].cnt_status = NOT_COUNTED;
		st.all[i].cnt_reason =
		    fail_unless_room(strdup("interrupted before its runs"));
		leave_record(&st.all[i], NULL, NULL);
	}
	if (st.nhard < st.nevent && st.all[st.nhard].cnt_count.s_n == 0)
		count_soft();
	/* Run the program even if no event can be counted. */
	if (st.ns.s_n == 0)
		series_add(&st.ns, run_program(-1));
	series_close(&st.ns, st.left_out);
	print_all();
	meter_close(&st.meter);
	fflush(st.out); /* before what end_status() says */
	if (out_name != NULL)
		out_close(st.out, argc, argv);
	return end_status();
}
