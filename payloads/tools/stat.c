/*
 * stat: counts another program, unchanged, and the programs it forks and
 * executes, over their whole lives.  Prints the counts as perf stat does.
 *
 *	stat [-r runs] [-x separator | -j] [--timeout ms] [--aggregates]
 *	    [--undisturbed] [-e event[:uk],...] program [args...]
 *
 * Events that cannot be counted at once are counted group after group, each
 * group in runs of its own, so no count is scaled.  PAPI_tot_ins is counted in
 * every group and shows whether the runs were the same.  A run is disturbed if
 * all CPUs together took another number of interrupts or NMIs than in most
 * runs.  SMIs are those of stat's CPU.  stat ends with the program's status.
 */
#include "payloads/tools/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <payload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "payloads/common/perf_names.h"
#include "payloads/common/usage.h"
#include "payloads/tools/child.h"

#define RUNS_MAX 10000

static const char arguments[] =
    "[-r runs] [-x separator | -j] [--timeout ms] [--aggregates] "
    "[--undisturbed] [-e event[:uk],...] program [args...]";
static const char help[] =
    "  -e EVENT[:uk],...  what to count (PAPI_tot_ins,PAPI_tot_cyc); {A,B}:k\n"
    "                     counts A and B in the same runs\n"
    "  -r RUNS            runs of each group of events (1)\n"
    "  -x SEPARATOR       print fields, as perf stat -x does\n"
    "  -j                 print JSON, as perf stat -j does\n"
    "  --timeout MS       end the program after this many milliseconds\n"
    "  --aggregates       print min, median, mean, trimmed mean, error\n"
    "  --undisturbed      exclude disturbed runs, and say which\n";

enum { OPTION_AGGREGATES = CHILD_TIMEOUT + 1, OPTION_UNDISTURBED };
static const struct option long_options[] = {
	{ "timeout", required_argument, NULL, CHILD_TIMEOUT },
	{ "aggregates", no_argument, NULL, OPTION_AGGREGATES },
	{ "undisturbed", no_argument, NULL, OPTION_UNDISTURBED },
	{ NULL, 0, NULL, 0 },
};

static char reference_name[] = "PAPI_tot_ins";

struct statistics st = { .runs = 1, .least = UINT64_MAX };

static struct counted *
counted_new(void)
{
	if (st.nevent == st.room) {
		st.room = 2 * st.room + MAXEVENT;
		st.all =
		    fail_unless_room(realloc(st.all, st.room * sizeof *st.all));
	}
	return memset(&st.all[st.nevent++], 0, sizeof *st.all);
}

static void
add_event(char *name, unsigned group)
{
	struct counted *c = counted_new();

	if (!options_event(&c->cnt_event, name))
		usage_mistake("-e: an event without a name");
	c->cnt_group = group;
}

/* `{a,b}:u`: the suffix of the braces belongs to each event in them. */
static void
add_group(char *text)
{
	char *list = text + 1, *close = strrchr(text, '}'), *name, *whole;
	const char *end = close != NULL ? close + 1 : "";

	if (close == NULL)
		usage_mistake("-e: \"%s\": no } ends the group", text);
	if (*end != '\0' && *end != ':')
		usage_mistake("-e: \"%s\": only a level, :u or :k, may "
			      "follow a group",
		    end);
	*close = '\0';
	if (strcmp(end, ":S") == 0)
		end = ""; /* which event samples matters to perf record only */
	st.ngroup++;
	while ((name = options_next(&list)) != NULL) {
		if (*name == '\0' || strpbrk(name, "{}") != NULL)
			usage_mistake("-e: \"%s\": a group needs events", name);
		whole =
		    fail_unless_room(malloc(strlen(name) + strlen(end) + 1));
		strcat(strcpy(whole, name), end);
		add_event(whole, st.ngroup);
	}
}

static void
add_events(const char *list)
{
	char *copy = fail_unless_room(strdup(list)), *name;

	while ((name = options_next(&copy)) != NULL) {
		if (*name == '{')
			add_group(name);
		else
			add_event(name, 0);
	}
}

static void
parse_options(int argc, char **argv)
{
	int c;

	usage_is(arguments, help);
	while (
	    (c = usage_option(argc, argv, "+:e:r:x:j", long_options)) != -1) {
		if (c == 'e')
			add_events(optarg);
		else if (c == 'r')
			st.runs = (unsigned)usage_number(
			    "-r", optarg, 1, RUNS_MAX, "");
		else if (c == 'x')
			/* perf also takes a backslash and a t for a tab */
			st.separator =
			    strcmp(optarg, "\\t") == 0 ? "\t" : optarg;
		else if (c == 'j')
			st.json = true;
		else if (c == OPTION_AGGREGATES)
			st.aggregates = true;
		else if (c == OPTION_UNDISTURBED)
			st.undisturbed = true;
		else
			st.timeout = child_timeout(optarg);
	}
	if (st.separator != NULL && *st.separator == '\0')
		usage_mistake("-x: give a separator that is not empty");
	if (st.json && st.separator != NULL)
		usage_mistake("give only one of -x and -j");
	if (optind == argc)
		usage_mistake("no program to count");
	if (st.nevent == 0)
		add_events("PAPI_tot_ins,PAPI_tot_cyc");
	st.program = argv + optind;
	options_event(&st.reference, reference_name);
}

/* In the child: start counting, and execute the program. */
static void __attribute__((noreturn)) become_program(int fd)
{
	cpc_t *cpc = st.meter.m_cpc;

	if (st.meter.m_nevent != 0 &&
	    (cpc_bind_curlwp(cpc, st.meter.m_set, CPC_BIND_LWP_INHERIT) == -1 ||
		cpc_syscall(CPC_OP_PROFILE, (uintptr_t)fd, 0, 0, 0) != 0))
		fail(1, "cannot count: %s", strerror(errno));
	execv(st.program[0], st.program);
	fail(127, "%s: %s", st.program[0], strerror(errno));
}

static int64_t
clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Run the program to its end.  Returns how long it took, in ns. */
static int64_t
run_program(int fd)
{
	int64_t begin;
	pid_t pid;

	fflush(stdout);
	begin = clock_ns();
	if ((pid = fork()) == -1)
		fail(1, "%s", strerror(errno));
	if (pid == 0)
		become_program(fd);
	st.status = child_wait(pid, st.program[0], st.timeout);
	return clock_ns() - begin;
}

static void
add_reference(uint64_t value)
{
	st.reference_runs++;
	if (value < st.least)
		st.least = value;
	if (value > st.most)
		st.most = value;
}

/* The runs of one group of events. */
struct group {
	struct counted *grp_event;
	unsigned grp_n;
	bool grp_reference; /* counted before the events */
	struct runs grp_runs;
	bool *grp_left_out; /* runs that no aggregate includes */
	int64_t *grp_ns;
};

/* Fill *by for all CPUs: the program may run on any of them. */
static bool
all_cpus(struct barecpc_interrupts *by)
{
	if (payload_interrupts(by) == -1)
		return false;
	by->by_interrupts = by->by_all_interrupts;
	by->by_nmis = by->by_all_nmis;
	return true;
}

/* Run the program, and keep the conditions and the time. */
static void
run_watched(struct group *g, int fd)
{
	struct barecpc_interrupts before = { 0 }, after = { 0 };
	unsigned run = g->grp_runs.rn_n;
	struct condition c;
	bool known = all_cpus(&before);

	g->grp_ns[run] = run_program(fd);
	known = all_cpus(&after) && known;
	if (before.by_cpu != after.by_cpu)
		before.by_flags = 0; /* of another CPU's SMIs */
	before.by_cpu = after.by_cpu;
	condition_between(&c, known ? &before : NULL, &after);
	runs_add(&g->grp_runs, &c);
	series_add(&st.ns, g->grp_ns[run]);
}

/*
 * Run the program once and add its counts.  The meter has the reference, if
 * grp_reference is set, then the events of the group.
 */
static void
run_once(struct group *g)
{
	struct counted *c = g->grp_event;
	struct cpc_profile_stat about;
	uint64_t count[MAXEVENT] = { 0 };
	unsigned i, skip = g->grp_reference ? 1 : 0;
	int fd;

	if ((fd = open("/dev/profile", O_RDONLY | O_CLOEXEC)) == -1)
		fail(1, "/dev/profile: %s", strerror(errno));
	run_watched(g, fd);
	if (cpc_syscall(CPC_OP_PROFILE_STAT, (uintptr_t)fd, (uintptr_t)&about,
		0, 0) != 0)
		fail(1, "cannot read the counts");
	if (about.ct_lwps == 0) /* the child has printed why */
		exit(st.status);
	if (read(fd, count, sizeof count) !=
	    (ssize_t)((skip + g->grp_n) * sizeof count[0]))
		fail(1, "cannot read the counts");
	close(fd);
	if (about.ct_left > st.left)
		st.left = about.ct_left;
	g->grp_left_out[g->grp_runs.rn_n - 1] = about.ct_revoked != 0;
	for (i = 0; i < g->grp_n; i++) {
		series_add(&c[i].cnt_count, (int64_t)count[skip + i]);
		if (about.ct_revoked != 0) {
			c[i].cnt_status = NOT_COUNTED;
			c[i].cnt_revoked++;
		}
	}
	if (about.ct_revoked == 0 && g->grp_reference)
		add_reference(count[0]);
}

static void
group_open(struct group *g)
{
	runs_open(&g->grp_runs, st.runs);
	g->grp_left_out = fail_unless_room(calloc(st.runs, sizeof(bool)));
	g->grp_ns = fail_unless_room(calloc(st.runs, sizeof(int64_t)));
	for (unsigned i = 0; i < g->grp_n; i++)
		series_open(&g->grp_event[i].cnt_count, st.runs);
}

/* Leave the disturbed runs out, if asked to, and compute the aggregates. */
static void
group_close(struct group *g)
{
	struct runs *rn = &g->grp_runs;
	char event[REPORT_EVENT];
	unsigned i, run, first = st.ns.s_n - st.runs;

	runs_judge(rn, st.undisturbed, 0);
	for (run = 0; run < st.runs; run++) {
		if (rn->rn_excluded == NULL || !rn->rn_excluded[run])
			continue;
		g->grp_left_out[run] = st.left_out[first + run] = true;
	}
	for (i = 0; i < g->grp_n; i++) {
		struct counted *c = &g->grp_event[i];

		for (run = 0; run < st.runs; run++)
			c->cnt_ns += g->grp_left_out[run] ? 0 : g->grp_ns[run];
		series_close(&c->cnt_count, g->grp_left_out);
	}
	if (rn->rn_ndisturbed != 0 && st.notes == NULL)
		st.notes = fail_unless_room(
		    open_memstream(&st.notes_text, &st.notes_bytes));
	if (rn->rn_ndisturbed != 0)
		runs_print(st.notes, "# stat: ",
		    report_event(event, sizeof event, &g->grp_event->cnt_event),
		    "run", rn);
	runs_free(rn);
	free(g->grp_left_out);
	free(g->grp_ns);
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
	if (size > MAXEVENT)
		return 0;
	return meter_bind(m, want + 1, size) == size ? size : 0;
}

/* Keep why a group is not counted.  For a single event libcpc knows the reason.
 */
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
		c[i].cnt_reason =
		    fail_unless_room(strdup(all ? text : m->m_reason));
	}
}

/* Count the first events of c.  Returns how many are finished. */
static unsigned
count_some(struct counted *c, unsigned left)
{
	struct meter *m = &st.meter;
	struct group g = { .grp_event = c };
	unsigned i, n = bind_some(c, left, &g.grp_reference);

	if (n == 0) {
		n = group_size(c, left);
		refuse_group(c, n);
		meter_unbind(m);
		return n;
	}
	/* The child binds the set; this bind was only to find what fits. */
	cpc_unbind(m->m_cpc, m->m_set);
	g.grp_n = n;
	group_open(&g);
	for (i = 0; i < st.runs; i++)
		run_once(&g);
	group_close(&g);
	meter_unbind(m);
	return n;
}

/*
 * An unknown event is a mistake of the command line, as in perf: end before the
 * program runs.  An event that this machine lacks is <not supported>.
 */
static void
check_events(void)
{
	for (unsigned i = 0; st.meter.m_cpc != NULL && i < st.nevent; i++) {
		const struct event *e = &st.all[i].cnt_event;

		if (meter_bind(&st.meter, e, 1) == 0 &&
		    perf_name_mistyped(e->e_name))
			fail(2, "%s", st.meter.m_reason);
	}
	meter_unbind(&st.meter);
}

int
main(int argc, char **argv)
{
	unsigned i;

	parse_options(argc, argv);
	meter_open(&st.meter);
	check_events();
	series_open(&st.ns, st.runs * st.nevent);
	st.left_out =
	    fail_unless_room(calloc(st.runs * st.nevent, sizeof(bool)));
	for (i = 0; i < st.nevent;)
		i += count_some(&st.all[i], st.nevent - i);
	/* Run the program even if no event can be counted. */
	if (st.ns.s_n == 0)
		series_add(&st.ns, run_program(-1));
	series_close(&st.ns, st.left_out);
	print_all();
	meter_close(&st.meter);
	return st.status;
}
