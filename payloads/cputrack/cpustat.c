/*
 * cpustat: counts events on every CPU, as Solaris's program of this name does.
 *
 *	cpustat -c spec [-c spec]... [-p period] [-T u|d] [-sntD]
 *	    [interval [count]]
 *
 * Each online CPU has an LWP that binds the sets there in turn, one for each
 * interval.  SIGINT and SIGTERM end all of them, and the totals follow.
 *
 * With -s each CPU also has a soaker.  It spins while a set is bound that
 * counts only the kernel, so that the set does not count the kernel's idle
 * loop.  It is of the lowest class, and takes no time from other programs.
 */
#include <libcpc.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/priocntl.h>
#include <sys/processor.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "payloads/common/usage.h"
#include "payloads/cputrack/cpc_tool.h"

#define NS          1000000000
#define SECONDS_MAX 1e9

static const char arguments[] = "-c spec [-c spec]... [-p period] [-T u|d] "
				"[-sntD] [interval [count]]";

static double interval = 5, period;
static unsigned long turns; /* 0: no limit */
static bool soak, siblings;
static char stamp;
static struct timespec start;
static hrtime_t start_hrtime;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static sem_t bind_tried; /* by the LWP that was created last */
static pthread_barrier_t started;
static sem_t over; /* posted to end the measuring LWPs */
static unsigned nbound;

/* One for each online CPU. */
static struct measurer *measurers;
struct measurer {
	int cpu;
	pthread_t lwp, soaker;
	int bind_errno; /* of the first bind, or 0 */
	bool failed;
	sem_t wake_soaker;
	volatile bool soaking;
	volatile unsigned long soaker_turns;
	cpc_set_t *set[TOOL_SPECS];
	cpc_buf_t *total[TOOL_SPECS], *before[TOOL_SPECS], *now[TOOL_SPECS],
	    *row[TOOL_SPECS];
};

/* Rows */

static void
print_stamp(void)
{
	time_t now = time(NULL);
	char text[64];

	if (stamp == 'u')
		printf("%ld\n", (long)now);
	if (stamp == 'd') {
		strftime(
		    text, sizeof text, "%a %b %e %H:%M:%S %Z %Y", gmtime(&now));
		printf("%s\n", text);
	}
}

static void
print_row(int cpu, const char *word, unsigned s, cpc_buf_t *buf)
{
	hrtime_t at = cpc_buf_hrtime(tool.cpc, buf) - start_hrtime;

	printf("%7.3f %3d %5s ", (double)at / NS, cpu, word);
	spec_values(stdout, tool.cpc, tool.specs[s], buf, tool.ticks);
	if (tool.nspecs > 1)
		printf(" # %s", tool.specs[s]->spc_text);
	printf("\n");
	fflush(stdout);
}

static void
print_tick(struct measurer *m, unsigned s)
{
	pthread_mutex_lock(&output);
	print_stamp();
	print_row(m->cpu, "tick", s, m->row[s]);
	pthread_mutex_unlock(&output);
}

/* Soakers */

/* An LWP of the class FX runs only while its CPU has nothing else to do. */
static void
enter_lowest_class(void)
{
	pcinfo_t info = { .pc_clname = "FX" };
	pcparms_t parms = { 0 };

	if (priocntl(P_LWPID, P_MYID, PC_GETCID, &info) == -1)
		fail(1, "cannot find the class FX: %s", strerror(errno));
	parms.pc_cid = info.pc_cid;
	if (priocntl(P_LWPID, P_MYID, PC_SETPARMS, &parms) == -1)
		fail(1, "cannot enter the class FX: %s", strerror(errno));
}

/* It makes no system call while it spins: the sets would count that. */
static void *
soak_cpu(void *arg)
{
	struct measurer *m = arg;

	processor_bind(P_LWPID, P_MYID, m->cpu, NULL);
	enter_lowest_class();
	for (;;) {
		while (m->soaking)
			m->soaker_turns++;
		sem_wait(&m->wake_soaker);
	}
	return NULL;
}

/* Measuring */

static bool
works(struct measurer *m, int err)
{
	if (err == 0)
		return true;
	m->failed = true;
	pthread_mutex_lock(&output);
	fflush(stdout);
	fprintf(stderr, "%s: cpu%d - %s%s\n", usage_name(), m->cpu,
	    strerror(err),
	    err == EACCES && nbound == 0 ? ": boot with cpc_cpu=yes" : "");
	pthread_mutex_unlock(&output);
	return false;
}

/* Does the set count on a core type that this CPU is not of? */
static bool
is_elsewhere(const struct measurer *m, unsigned s)
{
	int type = cpc_set_core_type(tool.cpc, m->set[s]);

	return type != -1 && type != cpc_core_type_of_cpu(tool.cpc, m->cpu);
}

static bool
is_all_elsewhere(const struct measurer *m)
{
	unsigned s = 0;

	while (s < tool.nspecs && is_elsewhere(m, s))
		s++;
	return s == tool.nspecs;
}

/* A set of another core type is not bound, and has no rows. */
static int
bind_set(struct measurer *m, unsigned s)
{
	if (is_elsewhere(m, s))
		return 0;
	if (cpc_bind_cpu(tool.cpc, m->cpu, m->set[s], 0) != 0)
		return errno;
	if (soak && spec_counts_system_only(tool.specs[s])) {
		m->soaking = true;
		sem_post(&m->wake_soaker);
	}
	return 0;
}

static void
unbind_set(struct measurer *m, unsigned s)
{
	m->soaking = false;
	cpc_unbind(tool.cpc, m->set[s]);
}

static int
sample_set(struct measurer *m, unsigned s, cpc_buf_t *buf)
{
	return cpc_set_sample(tool.cpc, m->set[s], buf) == 0 ? 0 : errno;
}

/* Sleep until so many seconds after the start.  False: it is over. */
static bool
sleep_until(double seconds)
{
	hrtime_t ns = start.tv_nsec + (hrtime_t)(seconds * NS);
	struct timespec at = { start.tv_sec + ns / NS, ns % NS };

	while (sem_timedwait(&over, &at) == -1) {
		if (errno == ETIMEDOUT)
			return true;
	}
	sem_post(&over); /* for the next LWP */
	return false;
}

/* Does one set stay bound all the time? */
static bool
set_stays(void)
{
	return tool.nspecs == 1 && period == 0;
}

/*
 * A turn is the interval of one set.  Its row is the difference of two samples.
 * A set that takes turns begins each of them at 0.
 */
static bool
measure_turn(struct measurer *m, unsigned long turn)
{
	unsigned s = (unsigned)(turn % tool.nspecs);
	double end = (double)(turn + 1) * interval;

	if (period != 0)
		end =
		    (double)(turn / tool.nspecs) * period + (s + 1) * interval;
	if (turn > 0 && !set_stays() &&
	    (!sleep_until(end - interval) || !works(m, bind_set(m, s))))
		return false;
	if (!sleep_until(end))
		return false;
	if (is_elsewhere(m, s))
		return true;
	if (!works(m, sample_set(m, s, m->now[s])))
		return false;
	cpc_buf_sub(tool.cpc, m->row[s], m->now[s], m->before[s]);
	cpc_buf_add(tool.cpc, m->total[s], m->total[s], m->row[s]);
	if (set_stays()) {
		cpc_buf_copy(tool.cpc, m->before[s], m->now[s]);
	} else {
		unbind_set(m, s);
		cpc_buf_zero(tool.cpc, m->before[s]);
	}
	print_tick(m, s);
	return true;
}

static void *
measure_cpu(void *arg)
{
	struct measurer *m = arg;
	unsigned long n = 0;

	m->bind_errno = is_all_elsewhere(m) ? ENODEV : bind_set(m, 0);
	sem_post(&bind_tried);
	pthread_barrier_wait(&started);
	if (m->bind_errno == ENODEV)
		return NULL; /* a CPU of another core type */
	if (siblings && m->bind_errno == EACCES && nbound > 0)
		return NULL; /* another CPU counts this one, too */
	/* The first set has counted since it was bound, before all others. */
	bool good =
	    works(m, m->bind_errno) &&
	    (is_elsewhere(m, 0) || works(m, sample_set(m, 0, m->before[0])));
	while (good && (turns == 0 || n < turns))
		good = measure_turn(m, n++);
	m->soaking = false;
	return NULL;
}

/* The CPUs bind in order: of those that share a PMU the first counts. */
static void
start_measurer(struct measurer *m)
{
	for (unsigned s = 0; s < tool.nspecs; s++) {
		m->set[s] = spec_set(tool.cpc, tool.specs[s]);
		m->total[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, m->set[s]));
		m->before[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, m->set[s]));
		m->now[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, m->set[s]));
		m->row[s] =
		    fail_unless_room(cpc_buf_create(tool.cpc, m->set[s]));
	}
	sem_init(&m->wake_soaker, 0, 0);
	if ((soak && pthread_create(&m->soaker, NULL, soak_cpu, m) != 0) ||
	    pthread_create(&m->lwp, NULL, measure_cpu, m) != 0)
		fail(1, "cannot create an LWP: %s", strerror(errno));
	while (sem_wait(&bind_tried) == -1)
		continue;
	nbound += m->bind_errno == 0;
}

static void
print_titles(void)
{
	if (tool.no_titles)
		return;
	printf("%7s %3s %5s ", "time", "cpu", "event");
	spec_titles(stdout, tool.specs[0], tool.ticks);
	printf("\n");
}

/* The sums over all CPUs, in the buffers of the first. */
static void
print_totals(unsigned n, unsigned measuring)
{
	cpc_buf_t **total = measurers[0].total;

	for (unsigned s = 0; s < tool.nspecs; s++) {
		for (unsigned i = 1; i < n; i++)
			cpc_buf_add(tool.cpc, total[s], total[s],
			    measurers[i].total[s]);
		/* Nothing is known of a set that had no turn. */
		if (cpc_buf_hrtime(tool.cpc, total[s]) != 0)
			print_row((int)measuring, "total", s, total[s]);
	}
}

static void
interrupted(int)
{
	sem_post(&over);
}

static int
measure_all(void)
{
	long ncpu = sysconf(_SC_NPROCESSORS_CONF);
	unsigned n = 0, failed = 0, measuring = 0;

	sem_init(&bind_tried, 0, 0);
	sem_init(&over, 0, 0);
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
	pthread_barrier_init(
	    &started, NULL, (unsigned)sysconf(_SC_NPROCESSORS_ONLN) + 1);
	measurers = fail_unless_room(calloc((size_t)ncpu, sizeof *measurers));
	for (int cpu = 0; cpu < ncpu; cpu++) {
		if (p_online(cpu, P_STATUS) != P_ONLINE)
			continue;
		measurers[n].cpu = cpu;
		start_measurer(&measurers[n++]);
	}
	print_titles();
	clock_gettime(CLOCK_REALTIME, &start);
	start_hrtime = gethrtime();
	pthread_barrier_wait(&started);
	for (unsigned i = 0; i < n; i++) {
		pthread_join(measurers[i].lwp, NULL);
		failed += measurers[i].failed;
		measuring +=
		    measurers[i].bind_errno == 0 && !measurers[i].failed;
	}
	print_totals(n, measuring);
	for (unsigned i = 0; soak && tool.debug && i < n; i++)
		fprintf(stderr, "%s: cpu%d: the soaker made %lu turns\n",
		    usage_name(), measurers[i].cpu, measurers[i].soaker_turns);
	return failed != 0;
}

static void
parse_options(int argc, char **argv)
{
	static const char letters[] = ":c:p:T:sntDh";
	unsigned count = 0;
	int c;

	while ((c = usage_option(argc, argv, letters, NULL)) != -1) {
		switch (c) {
		case 'p':
			period = tool_number(optarg, SECONDS_MAX);
			break;
		case 'T':
			stamp = *optarg;
			if (strcmp(optarg, "u") != 0 &&
			    strcmp(optarg, "d") != 0)
				tool_invalid(optarg);
			break;
		case 's':
			soak = true;
			break;
		default:
			tool_option(c);
		}
	}
	if (optind < argc &&
	    (interval = tool_number(argv[optind++], SECONDS_MAX)) == 0)
		tool_invalid("0");
	if (optind < argc && (count = tool_whole(argv[optind++])) == 0)
		tool_invalid("0");
	if (optind < argc || tool.nspecs == 0)
		usage_mistake("give -c, and at most an interval and a count");
	if (period != 0 && period < tool.nspecs * interval)
		usage_mistake("-p: the sets take %g s", tool.nspecs * interval);
	turns = period != 0 ? (unsigned long)count * tool.nspecs : count;
}

int
main(int argc, char **argv)
{
	bool any = false;

	tool_open(arguments, "performance counters");
	parse_options(argc, argv);
	for (unsigned s = 0; s < tool.nspecs; s++) {
		siblings = spec_count_siblings(tool.cpc, tool.specs[s]);
		any |= spec_counts_system_only(tool.specs[s]);
	}
	soak &= any;
	return measure_all();
}
