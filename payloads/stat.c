/*
 * stat: what another program, unchanged, counts in its whole life, as perf
 * stat prints it.
 *
 *	stat [-r runs] [-x separator | -j] [-e event[:uk],...] program [args...]
 *
 * Events that cannot be counted at once are counted group after group, each
 * in runs of its own: nothing is scaled.  PAPI_tot_ins is counted in every
 * group, and tells whether the runs were the same.  stat ends as the program
 * did.
 */
#include "payloads/json.h"
#include "payloads/meter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME     "stat"
#define RUNS_MAX 10000

static char reference_name[] = "PAPI_tot_ins";

/* What one event counted, run after run. */
struct counted {
	struct event ct_event;
	unsigned ct_runs; /* 0: none; ct_status and ct_reason say why */
	double ct_mean, ct_squares;
	uint64_t ct_ns; /* how long it was counted, all runs */
	enum status ct_status;
	char ct_reason[160];
};

static struct {
	struct counted all[MAXEVENT];
	unsigned nevent, runs;
	const char *separator;
	bool json;
	char **program;
	struct meter meter;
	struct event reference;
	uint64_t least, most; /* of the reference */
	unsigned reference_runs, total_runs;
	uint64_t ns;
	int status; /* the program's */
} st = { .runs = 1, .least = UINT64_MAX };

static void __attribute__((noreturn, format(printf, 2, 3)))
fail(int status, const char *fmt, ...)
{
	va_list ap;

	fputs(NAME ": ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	if (status == 2)
		fputs("usage: " NAME " [-r runs] [-x separator | -j] "
		      "[-e event[:uk],...] program [args...]\n",
		    stderr);
	exit(status);
}

static void
add_events(const char *list)
{
	char *copy = strdup(list), *name;

	if (copy == NULL)
		fail(1, "%s", strerror(errno));
	while ((name = strsep(&copy, ",")) != NULL) {
		if (st.nevent == MAXEVENT)
			fail(2, "-e: more than %d events", MAXEVENT);
		if (!options_event(&st.all[st.nevent++].ct_event, name))
			fail(2, "-e: an event without a name");
	}
}

static unsigned
runs(const char *text)
{
	char *end;
	long n = strtol(text, &end, 0);

	if (end == text || *end != '\0')
		fail(2, "-r: not a number: \"%s\"", text);
	if (n < 1 || n > RUNS_MAX)
		fail(2, "-r: %s is not within 1..%d", text, RUNS_MAX);
	return (unsigned)n;
}

static void
parse(int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt(argc, argv, ":e:r:x:j")) != -1) {
		if (c == 'e')
			add_events(optarg);
		else if (c == 'r')
			st.runs = runs(optarg);
		else if (c == 'x')
			st.separator = optarg;
		else if (c == 'j')
			st.json = true;
		else
			fail(2,
			    c == ':' ? "-%c: needs an argument"
				     : "-%c: no such option",
			    optopt);
	}
	if (st.json && st.separator != NULL)
		fail(2, "-x and -j exclude each other");
	if (optind == argc)
		fail(2, "no program to count");
	if (st.nevent == 0)
		add_events("PAPI_tot_ins,PAPI_tot_cyc");
	st.program = argv + optind;
	options_event(&st.reference, reference_name);
}

/* In the child: become the program, and be counted from then on. */
static void __attribute__((noreturn)) become(int fd)
{
	cpc_t *cpc = st.meter.m_cpc;

	if (st.meter.m_nevent != 0 &&
	    (cpc_bind_curlwp(cpc, st.meter.m_set, CPC_BIND_LWP_INHERIT) == -1 ||
		cpc_syscall(CPC_OP_PROFILE, (uintptr_t)fd, 0, 0, 0) != 0))
		fail(1, "cannot count: %s", strerror(errno));
	execv(st.program[0], st.program);
	fail(127, "%s: %s", st.program[0], strerror(errno));
}

static uint64_t
clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Run the program to its end; how long it took. */
static uint64_t
run_program(int fd)
{
	uint64_t begin;
	int status;
	pid_t pid;

	fflush(stdout);
	begin = clock_ns();
	if ((pid = fork()) == -1)
		fail(1, "%s", strerror(errno));
	if (pid == 0)
		become(fd);
	while (waitpid(pid, &status, 0) == -1) {
		if (errno != EINTR)
			fail(1, "%s", strerror(errno));
	}
	st.status =
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return clock_ns() - begin;
}

/* A mean and the squares about it, as Welford takes them. */
static void
note(struct counted *c, uint64_t value, uint64_t ns)
{
	double off = (double)value - c->ct_mean;

	c->ct_runs++;
	c->ct_mean += off / c->ct_runs;
	c->ct_squares += off * ((double)value - c->ct_mean);
	c->ct_ns += ns;
}

static void
note_reference(uint64_t value)
{
	st.reference_runs++;
	if (value < st.least)
		st.least = value;
	if (value > st.most)
		st.most = value;
}

/* Once, counting what the meter has: `skip` references, then c[0..]. */
static void
run_once(struct counted *c, unsigned n, unsigned skip)
{
	struct cpc_profile_stat about;
	uint64_t count[MAXEVENT], ns;
	unsigned i;
	int fd;

	if ((fd = open("/dev/profile", O_RDONLY | O_CLOEXEC)) == -1)
		fail(1, "/dev/profile: %s", strerror(errno));
	ns = run_program(fd);
	st.ns += ns;
	st.total_runs++;
	if (cpc_syscall(CPC_OP_PROFILE_STAT, (uintptr_t)fd, (uintptr_t)&about,
		0, 0) != 0)
		fail(1, "cannot read the counts");
	if (about.ct_lwps == 0) /* the child has said why */
		exit(st.status);
	if (read(fd, count, sizeof count) !=
	    (ssize_t)((skip + n) * sizeof count[0]))
		fail(1, "cannot read the counts");
	close(fd);
	if (about.ct_revoked != 0) {
		for (i = 0; i < n; i++) {
			c[i].ct_status = NOT_COUNTED;
			snprintf(c[i].ct_reason, sizeof c[i].ct_reason,
			    "%s: a set was bound to a CPU meanwhile",
			    c[i].ct_event.e_name);
		}
		return;
	}
	if (skip != 0)
		note_reference(count[0]);
	for (i = 0; i < n; i++)
		note(&c[i], count[skip + i], ns);
}

/*
 * Count as many of the events as fit beside the reference, or one alone where
 * none does.  Returns how many are done with.
 */
static unsigned
count_group(struct counted *c, unsigned left)
{
	struct event want[MAXEVENT];
	struct meter *m = &st.meter;
	unsigned i, n, skip = 1;

	want[0] = st.reference;
	for (n = 1; n < MAXEVENT && n <= left; n++)
		want[n] = c[n - 1].ct_event;
	if ((n = meter_bind(m, want, n)) < 2) {
		skip = 0;
		n = meter_bind(m, want + 1, 1);
	}
	if (n == 0) {
		c->ct_status = m->m_status;
		snprintf(c->ct_reason, sizeof c->ct_reason, "%s", m->m_reason);
		return 1;
	}
	/* The child binds it; here it was only to see what fits. */
	cpc_unbind(m->m_cpc, m->m_set);
	for (i = 0; i < st.runs; i++)
		run_once(c, n - skip, skip);
	meter_unbind(m);
	return n - skip;
}

/* The standard error of the mean, in percent of it. */
static double
noise(const struct counted *c)
{
	double n = c->ct_runs;

	if (c->ct_runs < 2 || c->ct_mean == 0)
		return 0;
	return 100 * __builtin_sqrt(c->ct_squares / (n - 1) / n) / c->ct_mean;
}

static void
print_json(const struct counted *c, const char *value, const char *event)
{
	fprintf(stderr,
	    "{\"counter-value\" : \"%s\", \"unit\" : \"\", "
	    "\"event\" : ",
	    value);
	json_string(stderr, event);
	if (st.runs > 1)
		fprintf(stderr, ", \"variance\" : %.2f", noise(c));
	fprintf(stderr,
	    ", \"event-runtime\" : %" PRIu64 ", \"pcnt-running\" : 100.00}\n",
	    c->ct_runs != 0 ? c->ct_ns / c->ct_runs : 0);
}

static void
print_one(const struct counted *c)
{
	const char *x = st.separator;
	char value[40], event[80];

	report_event(event, sizeof event, &c->ct_event);
	if (c->ct_runs != 0)
		snprintf(
		    value, sizeof value, st.json ? "%.6f" : "%.0f", c->ct_mean);
	else
		snprintf(value, sizeof value, "%s",
		    c->ct_status == NOT_COUNTED ? "<not counted>"
						: "<not supported>");
	if (st.json) {
		print_json(c, value, event);
	} else if (x != NULL) {
		fprintf(stderr, "%s%s%s%s%s%" PRIu64 "%s100.00", value, x, x,
		    event, x, c->ct_runs != 0 ? c->ct_ns / c->ct_runs : 0, x);
		if (st.runs > 1)
			fprintf(stderr, "%s%.2f%%", x, noise(c));
		fputc('\n', stderr);
	} else {
		fprintf(stderr, "%18s      %-32s", value, event);
		if (c->ct_runs > 1)
			fprintf(stderr, " ( +- %5.2f%% )", noise(c));
		fputc('\n', stderr);
	}
}

/* Were the runs the same?  Programs that read -x or -j hear only of a no. */
static void
print_reference(void)
{
	bool plain = !st.json && st.separator == NULL;

	if (st.reference_runs < 2 || (!plain && st.least == st.most))
		return;
	fprintf(stderr, "# " NAME ": reference %s: %" PRIu64,
	    st.reference.e_name, st.least);
	if (st.least == st.most)
		fprintf(stderr, " in each of %u runs\n", st.reference_runs);
	else
		fprintf(stderr,
		    "..%" PRIu64 ", spread %" PRIu64 " in %u runs\n", st.most,
		    st.most - st.least, st.reference_runs);
}

static void
print_all(void)
{
	bool plain = !st.json && st.separator == NULL;
	unsigned i;

	if (plain) {
		fprintf(stderr, "\n Performance counter stats for '%s'",
		    st.program[0]);
		if (st.runs > 1)
			fprintf(stderr, " (%u runs)", st.runs);
		fputs(":\n\n", stderr);
	}
	for (i = 0; i < st.nevent; i++)
		print_one(&st.all[i]);
	if (plain)
		fprintf(stderr, "\n%18.9f seconds time elapsed\n\n",
		    (double)st.ns / st.total_runs / 1e9);
	for (i = 0; i < st.nevent; i++)
		if (st.all[i].ct_runs == 0)
			fprintf(
			    stderr, "# " NAME ": %s\n", st.all[i].ct_reason);
	print_reference();
}

int
main(int argc, char **argv)
{
	unsigned i;

	parse(argc, argv);
	meter_open(&st.meter);
	for (i = 0; i < st.nevent;)
		i += count_group(&st.all[i], st.nevent - i);
	/* It is run, even where nothing of it is counted. */
	if (st.total_runs == 0) {
		st.ns = run_program(-1);
		st.total_runs = 1;
	}
	print_all();
	meter_close(&st.meter);
	return st.status;
}
