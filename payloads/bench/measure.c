/* Measures an instance of a kernel: overhead, warm-up runs, measured runs. */
#include "payloads/bench/kernel.h"

#include <payload.h>
#include <stdio.h>

#include "payloads/common/measurement.h"
#include "payloads/common/read_cost.h"
#include "payloads/common/usage.h"

/* A call of a kernel's function: the runs of its loop. */
struct call {
	struct bench bcl_bench; /* the kernel's part of it */
	const struct options *bcl_o;
	const struct bench_kernel *bcl_k;
	const struct bench_args *bcl_args;
	const char *bcl_label;
	struct meter *bcl_meter;
	struct measurement bcl_mm;
	unsigned bcl_rows;  /* a run of a set is a run of each of its rows */
	unsigned bcl_begun; /* runs so far */
	bool bcl_running;
	uint64_t bcl_items; /* iterations of a turn */
	bool (*bcl_check)(void *arg);
	void *bcl_arg;
	const char *bcl_skipped; /* why, or NULL */
};

static struct call *
call_of(const struct bench *b)
{
	return (struct call *)(uintptr_t)b;
}

/* The runs that measure the overhead, and as many with turns. */
static unsigned
runs_of_a_kind(const struct call *cl)
{
	return cl->bcl_o->o_warmups + cl->bcl_o->o_runs;
}

/* The runs of all rows of the program, and how many are done. */
static uint64_t all_runs, done_runs;

void
bench_expect(const struct options *o, unsigned instances)
{
	all_runs =
	    (uint64_t)instances * o->o_nevent * 2 * (o->o_warmups + o->o_runs);
}

/* Keep what the run that just ended yielded. */
static void
keep_run(struct call *cl)
{
	unsigned n = runs_of_a_kind(cl), run = cl->bcl_begun - 1;
	bool overhead = run < n;

	if (run % n >= cl->bcl_o->o_warmups)
		measurement_add(&cl->bcl_mm, cl->bcl_meter, overhead);
	if (!overhead && cl->bcl_check != NULL && !cl->bcl_check(cl->bcl_arg))
		cl->bcl_mm.msm_verified = false;
}

/*
 * The counted window begins at the end of this function and ends at its start.
 * No branch there depends on the run, so the overhead is the same in each.
 */
bool
bench_next(struct bench *b)
{
	struct call *cl = call_of(b);

	if (cl->bcl_running) {
		meter_end(cl->bcl_meter);
		keep_run(cl);
		done_runs += cl->bcl_rows;
	}
	cl->bcl_running =
	    cl->bcl_skipped == NULL && cl->bcl_begun < 2 * runs_of_a_kind(cl);
	if (!cl->bcl_running)
		return false;
	b->bn_turns =
	    cl->bcl_begun < runs_of_a_kind(cl) ? 0 : cl->bcl_o->o_turns;
	cl->bcl_begun++;
	payload_progress(done_runs, all_runs);
	meter_begin(cl->bcl_meter);
	return true;
}

int64_t
bench_arg(const struct bench *b, unsigned i)
{
	const struct call *cl = call_of(b);

	if (i >= cl->bcl_args->ba_n)
		fail(2, "%s: has no argument %u: add it to BENCH_ARGS",
		    cl->bcl_label, i);
	return cl->bcl_args->ba_value[i];
}

void
bench_set_items(struct bench *b, uint64_t n)
{
	if (n == 0)
		fail(2, "%s: 0 iterations: give 1 or more",
		    call_of(b)->bcl_label);
	call_of(b)->bcl_items = n;
}

void
bench_verify(struct bench *b, bool (*check)(void *arg), void *arg)
{
	call_of(b)->bcl_check = check;
	call_of(b)->bcl_arg = arg;
}

void
bench_skip(struct bench *b, const char *why)
{
	call_of(b)->bcl_skipped = why;
}

static void
report_one(const struct call *cl, const struct event *e, unsigned index)
{
	const struct meter *m = cl->bcl_meter;
	const struct measurement *mm = &cl->bcl_mm;
	struct result r = {
		.r_label = cl->bcl_label,
		.r_event = e,
		.r_code = -1,
		.r_pic = -1,
		.r_status = m->m_status,
		.r_reason = m->m_reason,
		.r_machine = m->m_cpc == NULL,
		.r_method = "no turns",
		.r_iterations = cl->bcl_items * cl->bcl_o->o_turns,
		.r_tick = mm->msm_tick,
		.r_hrtime = mm->msm_hrtime,
		.r_runs = &mm->msm_runs,
		.r_empty = &mm->msm_empty,
		.r_verified = mm->msm_verified,
	};

	if (cl->bcl_skipped != NULL) {
		r.r_status = NOT_COUNTED;
		r.r_reason = cl->bcl_skipped;
		r.r_machine = false;
	} else if (m->m_nevent != 0) {
		r.r_status = COUNTED;
		r.r_code = (int64_t)m->m_info[index].ri_code;
		r.r_pic = (int)m->m_info[index].ri_picnum;
		r.r_count = mm->msm_count[index];
	}
	report_result(cl->bcl_o, &r);
}

/* Call the kernel's function, which has to do all runs. */
static void
call_kernel(struct call *cl)
{
	cl->bcl_k->bk_body(&cl->bcl_bench);
	if (cl->bcl_skipped != NULL)
		return;
	if (cl->bcl_running || cl->bcl_begun == 0)
		fail(2, "%s: %s: a kernel needs one whole BENCH_LOOP",
		    cl->bcl_label,
		    cl->bcl_running ? "it left its loop" : "it has no loop");
}

bool
bench_measure(const struct options *o, struct meter *m,
    const struct bench_kernel *k, const struct bench_args *args)
{
	unsigned i, done, n, bound;
	char label[LABEL_SIZE];
	bool right = true;

	bench_label(label, k, args);
	for (done = 0; done < o->o_nevent; done += n) {
		struct call cl = { .bcl_o = o,
			.bcl_k = k,
			.bcl_args = args,
			.bcl_label = label,
			.bcl_meter = m,
			.bcl_items = 1 };

		bound =
		    read_cost_bind(m, &o->o_event[done], o->o_nevent - done);
		/* Without any event the work still runs, and is timed. */
		n = bound != 0 ? bound : m->m_cpc != NULL ? 1 : o->o_nevent;
		cl.bcl_rows = n;
		measurement_open(&cl.bcl_mm, bound, o->o_runs);
		call_kernel(&cl);
		measurement_close(&cl.bcl_mm, bound, o);
		for (i = 0; i < n; i++)
			report_one(&cl, &o->o_event[done + i], i);
		right = right && cl.bcl_mm.msm_verified;
		measurement_free(&cl.bcl_mm, bound);
		meter_unbind(m);
	}
	if (!right)
		fprintf(stderr, "%s: %s: wrong result\n", usage_name(), label);
	return right;
}
