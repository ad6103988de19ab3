/*
 * stat: what another program, unchanged, and those it forks and executes count
 * in their whole lives, as perf stat prints it.
 *
 *	stat [-r runs] [-x separator | -j] [-e event[:uk],...] program [args...]
 *
 * Events that cannot be counted at once are counted group after group, each
 * in runs of its own: nothing is scaled.  PAPI_tot_ins is counted in every
 * group, and tells whether the runs were the same.  stat ends as the program
 * did.
 */
#include "payloads/fail.h"
#include "payloads/json.h"
#include "payloads/meter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX 10000

const char fail_name[] = "stat";
const char fail_usage[] = "[-r runs] [-x separator | -j] [-e event[:uk],...] "
			  "program [args...]";

static char reference_name[] = "PAPI_tot_ins";

/* A mean and the squares about it, as Welford takes them. */
struct mean {
	unsigned mn_n;
	double mn_mean, mn_squares;
};

/* What one event counted, run after run. */
struct counted {
	struct event ct_event;
	struct mean ct_count; /* of none: ct_status and ct_reason say why */
	uint64_t ct_ns;       /* how long it was counted, all runs */
	unsigned ct_revoked;  /* runs in which it was not */
	enum status ct_status;
	char *ct_reason;
};

static struct {
	struct counted *all;
	unsigned nevent, room, runs;
	const char *separator;
	bool json;
	char **program;
	struct meter meter;
	struct event reference;
	uint64_t least, most; /* of the reference */
	unsigned reference_runs;
	struct mean ns; /* how long a run takes */
	unsigned left;  /* LWPs that outlived the program, at most */
	int status;     /* the program's */
} st = { .runs = 1, .least = UINT64_MAX };

static void *
checked(void *p)
{
	if (p == NULL)
		fail(1, "%s", strerror(errno));
	return p;
}

static struct counted *
counted_new(void)
{
	if (st.nevent == st.room) {
		st.room = 2 * st.room + MAXEVENT;
		st.all = checked(realloc(st.all, st.room * sizeof *st.all));
	}
	return memset(&st.all[st.nevent++], 0, sizeof *st.all);
}

static void
add_events(const char *list)
{
	char *copy = checked(strdup(list)), *name;

	while ((name = options_next(&copy)) != NULL) {
		if (!options_event(&counted_new()->ct_event, name))
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
			/* perf, too, takes these two letters for a tab */
			st.separator =
			    strcmp(optarg, "\\t") == 0 ? "\t" : optarg;
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

static void
note(struct mean *mn, double value)
{
	double off = value - mn->mn_mean;

	mn->mn_n++;
	mn->mn_mean += off / mn->mn_n;
	mn->mn_squares += off * (value - mn->mn_mean);
}

/* The standard error of the mean. */
static double
error_of(const struct mean *mn)
{
	double n = mn->mn_n;

	return mn->mn_n < 2 ? 0 : sqrt(mn->mn_squares / (n - 1) / n);
}

static double
percent_of(const struct mean *mn)
{
	return mn->mn_mean == 0 ? 0 : 100 * error_of(mn) / mn->mn_mean;
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
	note(&st.ns, (double)ns);
	if (cpc_syscall(CPC_OP_PROFILE_STAT, (uintptr_t)fd, (uintptr_t)&about,
		0, 0) != 0)
		fail(1, "cannot read the counts");
	if (about.ct_lwps == 0) /* the child has said why */
		exit(st.status);
	if (read(fd, count, sizeof count) !=
	    (ssize_t)((skip + n) * sizeof count[0]))
		fail(1, "cannot read the counts");
	close(fd);
	if (about.ct_left > st.left)
		st.left = about.ct_left;
	if (about.ct_revoked != 0) {
		for (i = 0; i < n; i++) {
			c[i].ct_status = NOT_COUNTED;
			c[i].ct_revoked++;
		}
		return;
	}
	if (skip != 0)
		note_reference(count[0]);
	for (i = 0; i < n; i++) {
		note(&c[i].ct_count, (double)count[skip + i]);
		c[i].ct_ns += ns;
	}
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
		c->ct_reason = checked(strdup(m->m_reason));
		return 1;
	}
	/* The child binds it; here it was only to see what fits. */
	cpc_unbind(m->m_cpc, m->m_set);
	for (i = 0; i < st.runs; i++)
		run_once(c, n - skip, skip);
	meter_unbind(m);
	return n - skip;
}

/* How long it was counted, in a run. */
static uint64_t
runtime(const struct counted *c)
{
	return c->ct_count.mn_n != 0 ? c->ct_ns / c->ct_count.mn_n : 0;
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
		fprintf(
		    stderr, ", \"variance\" : %.2f", percent_of(&c->ct_count));
	fprintf(stderr,
	    ", \"event-runtime\" : %" PRIu64 ", \"pcnt-running\" : 100.00}\n",
	    runtime(c));
}

/* The last two fields, empty, are perf's metric and its unit. */
static void
print_fields(const struct counted *c, const char *value, const char *event)
{
	const char *x = st.separator;

	fprintf(stderr, "%s%s%s%s", value, x, x, event);
	if (st.runs > 1)
		fprintf(stderr, "%s%.2f%%", x, percent_of(&c->ct_count));
	fprintf(stderr, "%s%" PRIu64 "%s100.00%s%s\n", x, runtime(c), x, x, x);
}

static void
print_noise(const struct mean *mn)
{
	if (percent_of(mn) != 0)
		fprintf(stderr, "  ( +-%6.2f%% )", percent_of(mn));
	fputc('\n', stderr);
}

static void
print_one(const struct counted *c)
{
	char value[40], event[REPORT_EVENT];

	report_event(event, sizeof event, &c->ct_event);
	if (c->ct_count.mn_n != 0)
		snprintf(value, sizeof value, st.json ? "%.6f" : "%.0f",
		    c->ct_count.mn_mean);
	else
		snprintf(value, sizeof value, "%s",
		    c->ct_status == NOT_COUNTED ? "<not counted>"
						: "<not supported>");
	if (st.json) {
		print_json(c, value, event);
	} else if (st.separator != NULL) {
		print_fields(c, value, event);
	} else {
		fprintf(stderr, "%18s      %-32s", value, event);
		print_noise(&c->ct_count);
	}
}

static void
print_head(void)
{
	fputs("\n Performance counter stats for '", stderr);
	for (char **word = st.program; *word != NULL; word++)
		fprintf(stderr, "%s%s", word == st.program ? "" : " ", *word);
	fputc('\'', stderr);
	if (st.runs > 1)
		fprintf(stderr, " (%u runs)", st.runs);
	fputs(":\n\n", stderr);
}

/* Of several runs: to the error's third digit, as far as there are any. */
static void
print_time(void)
{
	double seconds = st.ns.mn_mean / 1e9, error = error_of(&st.ns) / 1e9;
	int digits = 9;

	if (st.ns.mn_n == 1) {
		fprintf(stderr, "\n %17.9f seconds time elapsed\n\n", seconds);
		return;
	}
	if (error > 0)
		digits = (int)fmin(fmax(ceil(-log10(error)), 0) + 2, 9);
	fprintf(stderr, "\n %17.*f +- %.*f seconds time elapsed", digits,
	    seconds, digits, error);
	print_noise(&st.ns);
	fputc('\n', stderr);
}

/* Why an event was not counted, or not each time. */
static void
print_reason(const struct counted *c)
{
	if (c->ct_revoked != 0)
		fprintf(stderr,
		    "# stat: %s: in %u of %u runs a set was bound to a "
		    "CPU meanwhile\n",
		    c->ct_event.e_name, c->ct_revoked, st.runs);
	else if (c->ct_count.mn_n == 0)
		fprintf(stderr, "# stat: %s\n", c->ct_reason);
}

/* Were the runs the same?  Programs that read -x or -j hear only of a no. */
static void
print_reference(bool plain)
{
	if (st.reference_runs < 2 || (!plain && st.least == st.most))
		return;
	fprintf(stderr, "# stat: reference %s: %" PRIu64, st.reference.e_name,
	    st.least);
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

	if (plain)
		print_head();
	for (i = 0; i < st.nevent; i++)
		print_one(&st.all[i]);
	if (plain)
		print_time();
	for (i = 0; i < st.nevent; i++)
		print_reason(&st.all[i]);
	if (st.left != 0)
		fprintf(stderr,
		    "# stat: LWPs that went on without the program, and "
		    "are not in the counts: %u\n",
		    st.left);
	print_reference(plain);
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
	if (st.ns.mn_n == 0)
		note(&st.ns, (double)run_program(-1));
	print_all();
	meter_close(&st.meter);
	return st.status;
}
