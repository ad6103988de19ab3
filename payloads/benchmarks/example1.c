/*
 * example1: cpc_bind_curlwp(3CPC), "Example 1 Use hardware performance
 * counters to measure events in a process".  The computation is ours: the
 * manual leaves a place for one.
 *
 *	example1 [-nt]
 *
 * EVENT0 and EVENT1 in the environment name the two events.  Prints one line
 * for each of 20 iterations.  With -t it prints rows of the benchmarks' table
 * instead, with -n without titles.  Either way it writes two records.
 */
#include "payloads/common/meter.h"
#include "payloads/common/options.h"
#include "payloads/common/read_cost.h"
#include "payloads/common/report.h"
#include "payloads/common/usage.h"

#include <errno.h>
#include <inttypes.h>
#include <libcpc.h>
#include <payload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 20
#define TERMS      1000

/* The manual's name for this function. */
#define error(...) fail(1, __VA_ARGS__)

/* The sum of the first n squares, added one by one. */
static uint64_t
computation(uint64_t n)
{
	uint64_t sum = 0, i;

	for (i = 1; i <= n; i++) {
		sum += i * i;
		/* Without this the compiler may use the formula below. */
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

static bool
is_sum_of_squares(uint64_t sum, uint64_t n)
{
	return sum == n * (n + 1) * (2 * n + 1) / 6;
}

/* The counts of the two requests, for the table and the records. */
struct outcome {
	struct event oc_event[2];
	struct quantity oc_count[2], oc_tick, oc_hrtime;
	struct runs oc_runs;
	cpc_reqinfo_t oc_info[2];
	enum status oc_status[2];
	char oc_reason[2][2 * CPC_MAX_EVENT_LEN];
	bool oc_absent; /* this machine counts nothing */
	bool oc_verified;
};

/* One line an iteration; an event that is not counted says so. */
static void
print_line(int iter, const struct outcome *oc, const uint64_t val[2])
{
	printf("%3d:", iter);
	for (int i = 0; i < 2; i++) {
		if (oc->oc_status[i] == COUNTED)
			printf(" %" PRId64, (int64_t)val[i]);
		else
			printf(" <%s>", status_words[oc->oc_status[i]]);
	}
	putchar('\n');
}

static void
print_reasons(const struct outcome *oc)
{
	for (int i = 0; i < 2; i++) {
		bool said =
		    i == 1 && strcmp(oc->oc_reason[0], oc->oc_reason[1]) == 0;

		if (oc->oc_status[i] != COUNTED && !said)
			printf("# <%s>: %s\n", status_words[oc->oc_status[i]],
			    oc->oc_reason[i]);
	}
}

/* Keep why an event is not counted. */
static void
refuse_event(struct outcome *oc, int i, enum status status, const char *why)
{
	oc->oc_status[i] = status;
	snprintf(oc->oc_reason[i], sizeof oc->oc_reason[i], "%s", why);
}

/*
 * An event that the environment names must be counted.  One of the default
 * two may be missing: the machine lacks it, or has no PIC left for it.
 */
static void
find_missing(struct outcome *oc)
{
	struct meter m;
	int i;

	meter_open(&m);
	for (i = 0; i < 2; i++) {
		if (read_cost_bind(&m, &oc->oc_event[i], 1) == 0)
			refuse_event(oc, i, m.m_status, m.m_reason);
	}
	if (oc->oc_status[0] == COUNTED && oc->oc_status[1] == COUNTED &&
	    meter_bind(&m, oc->oc_event, 2) != 2)
		refuse_event(
		    oc, 1, NOT_COUNTED, "no PIC is left next to the first");
	meter_close(&m);
}

/* Without counters, still do and check the computation. */
static void
run_uncounted(struct outcome *oc, bool lines)
{
	int iter;

	for (iter = 1; iter <= ITERATIONS; iter++) {
		oc->oc_verified &= is_sum_of_squares(computation(TERMS), TERMS);
		if (lines)
			print_line(iter, oc, NULL);
	}
}

/* Keep the conditions of one iteration. */
static void
note_conditions(struct outcome *oc, const struct barecpc_interrupts *before,
    int64_t tick, int64_t hrtime)
{
	struct barecpc_interrupts after;
	struct condition c;

	if (payload_interrupts(&after) == -1)
		before = NULL;
	condition_between(&c, before, &after);
	c.cn_tick = tick;
	c.cn_hrtime = hrtime;
	runs_add(&oc->oc_runs, &c);
}

static void
measure_events(cpc_t *cpc, struct outcome *oc, bool lines)
{
	cpc_set_t *set;
	cpc_buf_t *diff, *after, *before;
	int ind[2], iter, i;
	uint64_t val[2], sum;
	struct barecpc_interrupts by = { 0 };

	if ((set = cpc_set_create(cpc)) == NULL)
		error("could not create set: %s", strerror(errno));
	for (i = 0; i < 2; i++) {
		if (oc->oc_status[i] != COUNTED)
			continue;
		ind[i] = cpc_set_add_request(cpc, set, oc->oc_event[i].e_name,
		    0, oc->oc_event[i].e_flags, 0, NULL);
		if (ind[i] == -1)
			error(
			    "could not add request %d: %s", i, strerror(errno));
	}
	if ((diff = cpc_buf_create(cpc, set)) == NULL ||
	    (after = cpc_buf_create(cpc, set)) == NULL ||
	    (before = cpc_buf_create(cpc, set)) == NULL)
		error("could not create buffer: %s", strerror(errno));
	if (cpc_bind_curlwp(cpc, set, 0) == -1)
		error("cannot bind lwp: %s", strerror(errno));

	for (iter = 1; iter <= ITERATIONS; iter++) {
		payload_interrupts(&by);
		if (cpc_set_sample(cpc, set, before) == -1)
			break;
		sum = computation(TERMS);
		if (cpc_set_sample(cpc, set, after) == -1)
			break;
		oc->oc_verified &= is_sum_of_squares(sum, TERMS);
		cpc_buf_sub(cpc, diff, after, before);
		for (i = 0; i < 2; i++) {
			if (oc->oc_status[i] != COUNTED)
				continue;
			cpc_buf_get(cpc, diff, ind[i], &val[i]);
			series_add(&oc->oc_count[i].q_raw, (int64_t)val[i]);
		}
		series_add(
		    &oc->oc_tick.q_raw, (int64_t)cpc_buf_tick(cpc, diff));
		/* cpc_buf_sub() sets hrtime to the later one of the two. */
		series_add(&oc->oc_hrtime.q_raw,
		    cpc_buf_hrtime(cpc, after) - cpc_buf_hrtime(cpc, before));
		note_conditions(oc, &by, (int64_t)cpc_buf_tick(cpc, diff),
		    cpc_buf_hrtime(cpc, after) - cpc_buf_hrtime(cpc, before));
		if (lines)
			print_line(iter, oc, val);
	}
	if (iter != ITERATIONS + 1)
		error("cannot sample set: %s", strerror(errno));
	for (i = 0; i < 2; i++) {
		if (oc->oc_status[i] == COUNTED)
			cpc_request_info(cpc, set, ind[i], &oc->oc_info[i]);
	}
	cpc_unbind(cpc, set);
}

/* The machine counts nothing. */
static void
no_counters(struct outcome *oc)
{
	char reason[160];

	oc->oc_absent = true;
	snprintf(reason, sizeof reason, "perf counters unavailable: %s",
	    strerror(errno));
	report_machine("pmu_reason", reason, sizeof reason);
	for (int i = 0; i < 2; i++)
		refuse_event(oc, i, NOT_SUPPORTED, reason);
}

static void
report_outcome(const struct options *o, struct outcome *oc, bool rows)
{
	int i;

	runs_judge(&oc->oc_runs, NULL, false, report_tick_hz());
	series_close(&oc->oc_tick.q_raw, NULL);
	series_close(&oc->oc_hrtime.q_raw, NULL);
	for (i = 0; i < 2; i++) {
		bool counted = oc->oc_status[i] == COUNTED;
		struct result r = {
			.r_label = "example1",
			.r_event = &oc->oc_event[i],
			.r_code =
			    counted ? (int64_t)oc->oc_info[i].ri_code : -1,
			.r_pic = counted ? (int)oc->oc_info[i].ri_picnum : -1,
			.r_status = oc->oc_status[i],
			.r_reason = oc->oc_reason[i],
			.r_machine = oc->oc_absent,
			.r_method = "none",
			.r_iterations = TERMS,
			.r_tick = oc->oc_tick,
			.r_hrtime = oc->oc_hrtime,
			.r_runs = &oc->oc_runs,
			.r_verified = oc->oc_verified,
		};

		series_close(&oc->oc_count[i].q_raw, NULL);
		r.r_count = oc->oc_count[i];
		if (rows)
			report_result(o, &r);
		else
			report_record(o, &r);
	}
	report_last_lines();
}

static void
name_event(struct event *e, const char *variable, const char *otherwise)
{
	e->e_name = getenv(variable);
	if (e->e_name == NULL)
		e->e_name = otherwise;
	/* The manual's CPC_COUNT_USER, unless the payload runs at system. */
	e->e_flags = payload_privilege() == PAYLOAD_SYSTEM ? CPC_COUNT_SYSTEM
	                                                   : CPC_COUNT_USER;
	e->e_pic = -1;
}

static void
open_series(struct outcome *oc)
{
	series_open(&oc->oc_count[0].q_raw, ITERATIONS);
	series_open(&oc->oc_count[1].q_raw, ITERATIONS);
	series_open(&oc->oc_tick.q_raw, ITERATIONS);
	series_open(&oc->oc_hrtime.q_raw, ITERATIONS);
	runs_open(&oc->oc_runs, ITERATIONS);
}

static bool
parse_options(struct options *o, int argc, char **argv)
{
	bool table = false;
	int c;

	o->o_argc = argc;
	o->o_argv = argv;
	o->o_titles = true;
	o->o_runs = ITERATIONS;
	usage_is("[-nt]",
	    "  -t  rows of the benchmarks' table\n"
	    "  -n  no titles\n"
	    "EVENT0 and EVENT1 in the environment name the two events.\n");
	while ((c = usage_option(argc, argv, ":nt", NULL)) != -1) {
		if (c == 'n')
			o->o_titles = false;
		else
			table = true;
	}
	if (optind != argc)
		usage_mistake("%s: takes no argument", argv[optind]);
	return table;
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct outcome oc = { .oc_verified = true };
	bool table = parse_options(&o, argc, argv);
	bool named = getenv("EVENT0") != NULL || getenv("EVENT1") != NULL;
	cpc_t *cpc;

	name_event(&oc.oc_event[0], "EVENT0", "PAPI_tot_cyc");
	name_event(&oc.oc_event[1], "EVENT1", "PAPI_tot_ins");
	open_series(&oc);
	if ((cpc = cpc_open(CPC_VER_CURRENT)) != NULL) {
		if (!named)
			find_missing(&oc);
		if (oc.oc_status[0] == COUNTED || oc.oc_status[1] == COUNTED)
			measure_events(cpc, &oc, !table);
		else
			run_uncounted(&oc, !table);
		cpc_close(cpc);
	} else if (errno == ENOSYS) {
		no_counters(&oc);
		run_uncounted(&oc, !table);
	} else {
		error("perf counters unavailable: %s", strerror(errno));
	}
	if (!table)
		print_reasons(&oc);
	report_outcome(&o, &oc, table);
	if (!oc.oc_verified)
		error("wrong result");
	if (cpc != NULL && oc.oc_status[0] != COUNTED &&
	    oc.oc_status[1] != COUNTED)
		fail(STATUS_NOTHING_COUNTED, "nothing was counted: %s",
		    oc.oc_reason[0]);
	return 0;
}
