/* Collects what the runs of one piece of work yield. */
#include "payloads/common/measurement.h"

#include <string.h>

static void
each_quantity(struct measurement *mm, unsigned nevent, unsigned runs,
    void (*fn)(struct quantity *q, const struct measurement *mm, unsigned runs))
{
	for (unsigned i = 0; i < nevent; i++)
		fn(&mm->msm_count[i], mm, runs);
	fn(&mm->msm_tick, mm, runs);
	fn(&mm->msm_hrtime, mm, runs);
}

static void
quantity_open(struct quantity *q, const struct measurement *, unsigned runs)
{
	series_open(&q->q_raw, runs);
	series_open(&q->q_overhead, runs);
}

static void
quantity_close(struct quantity *q, const struct measurement *mm, unsigned)
{
	series_close(&q->q_raw, mm->msm_runs.rn_excluded);
	series_close(&q->q_overhead, mm->msm_empty.rn_excluded);
}

static void
quantity_free(struct quantity *q, const struct measurement *, unsigned)
{
	series_free(&q->q_raw);
	series_free(&q->q_overhead);
}

void
measurement_open(struct measurement *mm, unsigned nevent, unsigned runs)
{
	memset(mm, 0, sizeof *mm);
	mm->msm_verified = true;
	each_quantity(mm, nevent, runs, quantity_open);
	runs_open(&mm->msm_runs, runs);
	runs_open(&mm->msm_empty, runs);
}

void
measurement_close(
    struct measurement *mm, unsigned nevent, const struct options *o)
{
	uint64_t hz = report_tick_hz();

	runs_judge(&mm->msm_empty, &mm->msm_empty, o->o_undisturbed, hz);
	runs_judge(&mm->msm_runs, &mm->msm_empty, o->o_undisturbed, hz);
	each_quantity(mm, nevent, o->o_runs, quantity_close);
}

void
measurement_free(struct measurement *mm, unsigned nevent)
{
	each_quantity(mm, nevent, 0, quantity_free);
	runs_free(&mm->msm_runs);
	runs_free(&mm->msm_empty);
}

static void
add_value(struct quantity *q, int64_t value, bool overhead)
{
	series_add(overhead ? &q->q_overhead : &q->q_raw, value);
}

void
measurement_add(struct measurement *mm, const struct meter *m, bool overhead)
{
	for (unsigned i = 0; i < m->m_nevent; i++)
		add_value(&mm->msm_count[i], m->m_count[i], overhead);
	if (m->m_nevent != 0)
		add_value(&mm->msm_tick, m->m_tick, overhead);
	add_value(&mm->msm_hrtime, m->m_hrtime, overhead);
	runs_add(overhead ? &mm->msm_empty : &mm->msm_runs, &m->m_condition);
}
