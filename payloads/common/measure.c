/*
 * Measures a piece of work: warm-up runs, measured runs, overhead, records.
 */
#include "payloads/common/measure.h"

#include <stdio.h>
#include <string.h>

#include "payloads/common/read_cost.h"
#include "payloads/common/usage.h"

static void
empty_body(void *arg)
{
	/* The compiler must not optimize this away. */
	__asm__ volatile("" : : "r"(arg));
}

/* Every quantity that one run yields. */
struct measurement {
	struct quantity msm_count[MAXEVENT];
	struct quantity msm_tick, msm_hrtime;
	struct runs msm_runs, msm_empty;
	bool msm_verified;
};

static void
add_value(struct quantity *q, int64_t value, bool overhead)
{
	series_add(overhead ? &q->q_overhead : &q->q_raw, value);
}

static void
add_run(struct measurement *mm, const struct meter *m, bool overhead)
{
	unsigned i;

	for (i = 0; i < m->m_nevent; i++)
		add_value(&mm->msm_count[i], m->m_count[i], overhead);
	if (m->m_nevent != 0)
		add_value(&mm->msm_tick, m->m_tick, overhead);
	add_value(&mm->msm_hrtime, m->m_hrtime, overhead);
	runs_add(overhead ? &mm->msm_empty : &mm->msm_runs, &m->m_condition);
}

static void
each_quantity(struct measurement *mm, unsigned nevent, unsigned runs,
    void (*fn)(struct quantity *q, const struct measurement *mm, unsigned runs))
{
	unsigned i;

	for (i = 0; i < nevent; i++)
		fn(&mm->msm_count[i], mm, runs);
	fn(&mm->msm_tick, mm, runs);
	fn(&mm->msm_hrtime, mm, runs);
}

static void
quantity_open(struct quantity *q, const struct measurement *mm, unsigned runs)
{
	(void)mm;
	series_open(&q->q_raw, runs);
	series_open(&q->q_overhead, runs);
}

static void
quantity_close(struct quantity *q, const struct measurement *mm, unsigned runs)
{
	(void)runs;
	series_close(&q->q_raw, mm->msm_runs.rn_excluded);
	series_close(&q->q_overhead, mm->msm_empty.rn_excluded);
}

static void
quantity_free(struct quantity *q, const struct measurement *mm, unsigned runs)
{
	(void)mm;
	(void)runs;
	series_free(&q->q_raw);
	series_free(&q->q_overhead);
}

static void
measurement_open(struct measurement *mm, unsigned nevent, unsigned runs)
{
	memset(mm, 0, sizeof *mm);
	each_quantity(mm, nevent, runs, quantity_open);
	runs_open(&mm->msm_runs, runs);
	runs_open(&mm->msm_empty, runs);
}

static void
measurement_close(
    struct measurement *mm, unsigned nevent, const struct options *o)
{
	uint64_t hz = report_tick_hz();

	runs_judge(&mm->msm_runs, o->o_undisturbed, hz);
	runs_judge(&mm->msm_empty, o->o_undisturbed, hz);
	each_quantity(mm, nevent, o->o_runs, quantity_close);
}

static void
measurement_free(struct measurement *mm, unsigned nevent)
{
	each_quantity(mm, nevent, 0, quantity_free);
	runs_free(&mm->msm_runs);
	runs_free(&mm->msm_empty);
}

static void
run_all(const struct options *o, struct meter *m, const struct work *w,
    struct measurement *mm)
{
	unsigned i, n = o->o_warmups + o->o_runs;

	for (i = 0; i < n; i++) {
		meter_run(m, empty_body, NULL);
		if (i >= o->o_warmups)
			add_run(mm, m, true);
	}
	mm->msm_verified = true;
	for (i = 0; i < n; i++) {
		meter_run(m, w->w_body, w->w_arg);
		if (i >= o->o_warmups)
			add_run(mm, m, false);
		if (!w->w_verify(w->w_arg))
			mm->msm_verified = false;
	}
}

static void
report_one(const struct options *o, const struct meter *m, const struct work *w,
    const struct measurement *mm, const struct event *e, unsigned index)
{
	struct result r = {
		.r_label = w->w_label,
		.r_event = e,
		.r_code = -1,
		.r_pic = -1,
		.r_status = m->m_status,
		.r_reason = m->m_reason,
		.r_machine = m->m_cpc == NULL,
		.r_method = "empty body",
		.r_iterations = w->w_iterations,
		.r_tick = mm->msm_tick,
		.r_hrtime = mm->msm_hrtime,
		.r_runs = &mm->msm_runs,
		.r_empty = &mm->msm_empty,
		.r_verified = mm->msm_verified,
	};

	if (m->m_nevent != 0) {
		r.r_status = COUNTED;
		r.r_code = (int64_t)m->m_info[index].ri_code;
		r.r_pic = (int)m->m_info[index].ri_picnum;
		r.r_count = mm->msm_count[index];
	}
	report_result(o, &r);
}

bool
measure(const struct options *o, struct meter *m, const struct work *w)
{
	struct measurement mm;
	unsigned i, done, n, bound;
	bool right = true;

	for (done = 0; done < o->o_nevent; done += n) {
		bound =
		    read_cost_bind(m, &o->o_event[done], o->o_nevent - done);
		/* Without any event the work still runs, and is timed. */
		n = bound != 0 ? bound : m->m_cpc != NULL ? 1 : o->o_nevent;
		measurement_open(&mm, bound, o->o_runs);
		run_all(o, m, w, &mm);
		measurement_close(&mm, bound, o);
		for (i = 0; i < n; i++)
			report_one(o, m, w, &mm, &o->o_event[done + i], i);
		measurement_free(&mm, bound);
		right = right && mm.msm_verified;
		meter_unbind(m);
	}
	if (!right)
		fprintf(
		    stderr, "%s: %s: wrong result\n", usage_name(), w->w_label);
	return right;
}

int
measure_sizes(int argc, char **argv, const struct sizes *sz)
{
	const char *const *text;
	struct options o;
	struct meter m;
	char arguments[64];
	bool right = true;
	uint64_t size;
	int pass;

	snprintf(arguments, sizeof arguments, "[%s...]", sz->sz_what);
	options_parse(&o, argc, argv, arguments, "PAPI_tot_ins,PAPI_tot_cyc");
	meter_open(&m);
	/* The first pass only parses, so that mistakes end the program early.
	 */
	for (pass = 0; pass < 2; pass++) {
		text = sz->sz_defaults;
		if (optind < argc)
			text = (const char *const *)&argv[optind];
		for (; *text != NULL; text++) {
			size = usage_size(
			    sz->sz_what, *text, sz->sz_min, sz->sz_max);
			if (pass == 1 && !sz->sz_one(&o, &m, size))
				right = false;
		}
	}
	meter_close(&m);
	report_last_lines();
	return right ? 0 : 1;
}
