/* Prints what regions counted, when the program exits. */
#include "payloads/region/region.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "payloads/common/report.h"
#include "payloads/common/usage.h"

static void
one_value(struct quantity *q, int64_t value)
{
	series_open(&q->q_raw, 1);
	series_add(&q->q_raw, value);
	series_close(&q->q_raw, NULL);
}

static void
report_event_of(const struct region_lwp *rl, const struct region *rg,
    const char *label, unsigned event)
{
	const struct options *o = &region_all.ra_options;
	const struct meter *m = &rl->rl_meter;
	const struct region_event *rev = &rl->rl_event[event];
	struct result r = {
		.r_label = label,
		.r_event = &o->o_event[event],
		.r_code = -1,
		.r_pic = -1,
		.r_status = rev->rev_status,
		.r_reason = rev->rev_reason,
		.r_machine = m->m_cpc == NULL,
		.r_method = "empty region",
		.r_iterations = rg->rg_times,
		.r_verified = true,
	};
	int64_t empty[EMPTY_RUNS];
	struct series cost = { .s_raw = empty, .s_n = EMPTY_RUNS };

	if (!rg->rg_lost)
		one_value(&r.r_hrtime, rg->rg_sum.rct_hrtime);
	if (rev->rev_index >= 0 && rg->rg_lost) {
		r.r_status = NOT_COUNTED;
		r.r_reason = REGION_LOST;
	} else if (rev->rev_index >= 0) {
		memcpy(empty, rl->rl_empty[rev->rev_index], sizeof empty);
		series_close(&cost, NULL);
		r.r_cost = &cost;
		r.r_status = COUNTED;
		r.r_code = (int64_t)m->m_info[rev->rev_index].ri_code;
		r.r_pic = (int)m->m_info[rev->rev_index].ri_picnum;
		one_value(&r.r_count, rg->rg_sum.rct_event[rev->rev_index]);
		one_value(&r.r_tick, rg->rg_sum.rct_tick);
	}
	report_result(o, &r);
	series_free(&r.r_count.q_raw);
	series_free(&r.r_tick.q_raw);
	series_free(&r.r_hrtime.q_raw);
}

static void
report_region(const struct region_lwp *rl, const struct region *rg)
{
	char label[160];

	if (rg->rg_begun)
		fprintf(stderr,
		    "%s: region \"%s\": has not ended: its last time is not "
		    "counted: end it before the exit\n",
		    usage_name(), rg->rg_name);
	if (rg->rg_times == 0)
		return;
	if (region_all.ra_nlwp == 1)
		snprintf(label, sizeof label, "%s", rg->rg_name);
	else
		snprintf(
		    label, sizeof label, "%s/lwp:%u", rg->rg_name, rl->rl_id);
	for (unsigned i = 0; i < region_all.ra_options.o_nevent; i++)
		report_event_of(rl, rg, label, i);
}

void
region_report(void)
{
	struct region_all *ra = &region_all;

	if (ra->ra_nlwp != 0 && getpid() != ra->ra_pid)
		return;
	pthread_mutex_lock(&ra->ra_lock);
	for (struct region_lwp *rl = ra->ra_reported ? NULL : ra->ra_first;
	     rl != NULL; rl = rl->rl_next)
		for (struct region *rg = rl->rl_first; rg != NULL;
		     rg = rg->rg_next)
			report_region(rl, rg);
	ra->ra_reported = true;
	pthread_mutex_unlock(&ra->ra_lock);
}
