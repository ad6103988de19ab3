/*
 * cpustat: counts events on every CPU, as Solaris's program of this name does.
 *
 *	cpustat -c spec [-c spec]... [-p period] [-T u|d] [-sntD]
 *	    [interval [count]]
 *
 * Each online CPU has an LWP that binds the sets there in turn, one for each
 * interval.
 */
#include <libcpc.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "payloads/common/usage.h"
#include "payloads/tools/event_spec.h"

#define CPUS  512
#define SPECS 32
#define NS    1e9

static const char arguments[] = "-c spec [-c spec]... [-p period] [-T u|d] "
				"[-sntD] [interval [count]]";

static cpc_t *cpc;
static struct spec *specs[SPECS];
static unsigned nspecs;
static double interval = 5, period;
static unsigned long count;
static bool no_titles, ticks, soak;
static char stamp;
static hrtime_t start;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static volatile bool over;

static struct measurer {
	int cpu;
	pthread_t lwp, soaker;
	bool failed;
	cpc_set_t *set[SPECS];
	cpc_buf_t *total[SPECS], *before[SPECS], *now[SPECS];
} measurers[CPUS];

static double
number(const char *text, const char *what)
{
	char *end;
	double d = strtod(text, &end);

	(void)what;
	if (end == text || *end != '\0' || !(d >= 0) || d > 1e9)
		usage_mistake("invalid argument \"%s\"", text);
	return d;
}

/*
 * Rows
 */

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
print_row(double seconds, int cpu, const char *word, unsigned s, cpc_buf_t *buf)
{
	printf("%7.3f %3d %5s ", seconds, cpu, word);
	spec_values(stdout, cpc, specs[s], buf, ticks);
	if (nspecs > 1)
		printf(" # %s", specs[s]->spc_text);
	printf("\n");
	fflush(stdout);
}

static double
since_start(cpc_buf_t *buf)
{
	return (double)(cpc_buf_hrtime(cpc, buf) - start) / NS;
}

static void
print_tick(struct measurer *m, unsigned s, cpc_buf_t *buf)
{
	pthread_mutex_lock(&output);
	print_stamp();
	print_row(since_start(buf), m->cpu, "tick", s, buf);
	pthread_mutex_unlock(&output);
}

/*
 * Measuring
 */

static bool
works(struct measurer *m, int result)
{
	int err = errno;

	if (result == 0)
		return true;
	m->failed = true;
	pthread_mutex_lock(&output);
	fflush(stdout);
	fprintf(stderr, "%s: cpu%d - %s\n", usage_name(), m->cpu,
	    err == EACCES ? "permission denied: boot with cpc_cpu=yes"
			  : strerror(err));
	pthread_mutex_unlock(&output);
	return false;
}

static void
sleep_until(double seconds)
{
	hrtime_t at = start + (hrtime_t)(seconds * NS);
	struct timespec ts = { at / 1000000000, at % 1000000000 };

	while (
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		continue;
}

/* One set stays bound; each row is the difference of two samples. */
static bool
measure_one(struct measurer *m, double until)
{
	cpc_buf_t *swap = m->before[0];

	sleep_until(until);
	if (!works(m, cpc_set_sample(cpc, m->set[0], m->now[0])))
		return false;
	cpc_buf_sub(cpc, m->before[0], m->now[0], m->before[0]);
	cpc_buf_add(cpc, m->total[0], m->total[0], m->before[0]);
	print_tick(m, 0, m->before[0]);
	m->before[0] = m->now[0];
	m->now[0] = swap;
	return true;
}

/* One set of several is bound for an interval, and counts from 0. */
static bool
measure_turn(struct measurer *m, unsigned s, double until)
{
	if (!works(m, cpc_bind_cpu(cpc, m->cpu, m->set[s], 0)))
		return false;
	sleep_until(until);
	if (!works(m, cpc_set_sample(cpc, m->set[s], m->now[s])))
		return false;
	cpc_unbind(cpc, m->set[s]);
	cpc_buf_add(cpc, m->total[s], m->total[s], m->now[s]);
	print_tick(m, s, m->now[s]);
	return true;
}

/* An interval; with -p, a period of an interval for each set. */
static bool
measure_round(struct measurer *m, unsigned long n)
{
	double begin = (double)n * period;

	if (period == 0 && nspecs == 1)
		return measure_one(m, (double)(n + 1) * interval);
	if (period == 0)
		return measure_turn(
		    m, (unsigned)(n % nspecs), (double)(n + 1) * interval);
	for (unsigned s = 0; s < nspecs; s++) {
		if (!measure_turn(m, s, begin + (s + 1) * interval))
			return false;
	}
	sleep_until(begin + period);
	return true;
}

static void *
measure_cpu(void *arg)
{
	struct measurer *m = arg;
	bool stays = nspecs == 1 && period == 0, good;
	unsigned long n;

	good = !stays ||
	       (works(m, cpc_bind_cpu(cpc, m->cpu, m->set[0], 0)) &&
		   works(m, cpc_set_sample(cpc, m->set[0], m->before[0])));
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready); /* the start is known */
	for (n = 0; good && (count == 0 || n < count); n++)
		good = measure_round(m, n);
	return NULL;
}

/* Keep the CPU out of the kernel's idle loop, for sets that count the kernel.
 */
static void *
soak_cpu(void *arg)
{
	const struct measurer *m = arg;

	processor_bind(P_LWPID, P_MYID, m->cpu, NULL);
	while (!over) {
		for (volatile int i = 0; i < 1000; i++)
			continue;
		sched_yield();
	}
	return NULL;
}

static void
prepare(struct measurer *m)
{
	for (unsigned s = 0; s < nspecs; s++) {
		m->set[s] = spec_set(cpc, specs[s]);
		m->total[s] = fail_unless_room(cpc_buf_create(cpc, m->set[s]));
		m->before[s] = fail_unless_room(cpc_buf_create(cpc, m->set[s]));
		m->now[s] = fail_unless_room(cpc_buf_create(cpc, m->set[s]));
	}
}

static void
print_titles(void)
{
	if (no_titles)
		return;
	printf("%7s %3s %5s ", "time", "cpu", "event");
	spec_titles(stdout, specs[0], ticks);
	printf("\n");
}

/* The sums over all CPUs, in the buffers of the first. */
static void
print_totals(unsigned n, unsigned measuring)
{
	struct measurer *first = &measurers[0];

	for (unsigned s = 0; s < nspecs; s++) {
		for (unsigned i = 1; i < n; i++)
			cpc_buf_add(cpc, first->total[s], first->total[s],
			    measurers[i].total[s]);
		print_row(since_start(first->total[s]), (int)measuring, "total",
		    s, first->total[s]);
	}
}

static int
measure_all(void)
{
	unsigned n = 0, failed = 0;

	for (int cpu = 0; n < CPUS && cpu < sysconf(_SC_NPROCESSORS_CONF);
	     cpu++) {
		if (p_online(cpu, P_STATUS) == P_ONLINE)
			measurers[n++].cpu = cpu;
	}
	pthread_barrier_init(&ready, NULL, n + 1);
	for (unsigned i = 0; i < n; i++) {
		prepare(&measurers[i]);
		if (pthread_create(&measurers[i].lwp, NULL, measure_cpu,
			&measurers[i]) != 0)
			fail(1, "cannot create an LWP: %s", strerror(errno));
		if (soak)
			pthread_create(&measurers[i].soaker, NULL, soak_cpu,
			    &measurers[i]);
	}
	pthread_barrier_wait(&ready);
	print_titles();
	start = gethrtime();
	pthread_barrier_wait(&ready);
	for (unsigned i = 0; i < n; i++)
		pthread_join(measurers[i].lwp, NULL);
	over = true;
	for (unsigned i = 0; i < n; i++) {
		if (soak)
			pthread_join(measurers[i].soaker, NULL);
		failed += measurers[i].failed;
	}
	if (failed < n)
		print_totals(n, n - failed);
	return failed != 0;
}

int
main(int argc, char **argv)
{
	const char *texts[SPECS];
	int c;

	usage_is(arguments, "");
	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		fail(1, "cannot access performance counters - %s",
		    strerror(errno));
	while ((c = getopt(argc, argv, ":c:p:T:sntDh")) != -1) {
		switch (c) {
		case 'c':
			if (nspecs == SPECS)
				usage_mistake("too many -c");
			texts[nspecs++] = optarg;
			break;
		case 'p':
			period = number(optarg, "-p");
			break;
		case 'T':
			stamp = *optarg;
			if ((stamp != 'u' && stamp != 'd') || optarg[1] != '\0')
				usage_mistake(
				    "invalid argument \"%s\"", optarg);
			break;
		case 's':
			soak = true;
			break;
		case 'n':
			no_titles = true;
			break;
		case 't':
			ticks = true;
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
	if (optind < argc)
		interval = number(argv[optind++], "interval");
	if (optind < argc) {
		count = (unsigned long)number(argv[optind++], "count");
		if (count == 0)
			usage_mistake("invalid argument \"0\"");
	}
	if (optind < argc || nspecs == 0 || interval == 0)
		usage_mistake("give -c, an interval and a count above 0");
	for (unsigned s = 0; s < nspecs; s++)
		specs[s] = spec_parse(cpc, texts[s]);
	if (period != 0 && period < nspecs * interval)
		usage_mistake("-p: the sets take %g s", nspecs * interval);
	return measure_all();
}
