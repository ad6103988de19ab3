/* Counts marked regions of a program, for each LWP. */
#include "payloads/region/region.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "payloads/common/usage.h"

#define CALIBRATE "(calibration)"
#define WARM_UPS  2

struct region_all region_all = { .ra_lock = PTHREAD_MUTEX_INITIALIZER };
static pthread_once_t opened = PTHREAD_ONCE_INIT;
_Thread_local struct region_lwp *region_own;

static void
open_all(void)
{
	region_all.ra_last = &region_all.ra_first;
	region_all.ra_pid = getpid();
	region_events(&region_all.ra_options);
	atexit(region_report);
}

/* Add (or with sign -1 subtract) counts. */
static void
add_counts(struct counts *to, const struct counts *c, int sign)
{
	for (unsigned i = 0; i < REGION_MAXEVENT; i++)
		to->rct_event[i] += sign * c->rct_event[i];
	to->rct_tick += sign * c->rct_tick;
	to->rct_hrtime += sign * c->rct_hrtime;
}

void
region_resume(struct region_lwp *rl)
{
	meter_begin(&rl->rl_meter);
}

/* A set of the CPU has taken the counters: only the time goes on. */
static void
lose_counters(struct region_lwp *rl)
{
	rl->rl_err = errno;
	rl->rl_lost = true;
	fprintf(stderr, "%s: regions: LWP %u counts no longer: %s\n",
	    usage_name(), rl->rl_id, REGION_LOST);
	meter_unbind(&rl->rl_meter);
}

void
region_pause(struct region_lwp *rl)
{
	const struct meter *m = &rl->rl_meter;
	struct counts *now = &rl->rl_now;

	if (meter_try_end(&rl->rl_meter) == -1) {
		lose_counters(rl);
		return;
	}
	for (unsigned i = 0; i < m->m_nevent; i++)
		now->rct_event[i] += m->m_count[i];
	now->rct_tick += m->m_tick;
	now->rct_hrtime += m->m_hrtime;
	add_counts(now, &rl->rl_cost, -1);
}

static struct region *
find_region(struct region_lwp *rl, const char *name)
{
	for (struct region *rg = rl->rl_first; rg != NULL; rg = rg->rg_next)
		if (strcmp(rg->rg_name, name) == 0)
			return rg;
	return NULL;
}

struct region *
region_make(struct region_lwp *rl, const char *name)
{
	struct region *rg = find_region(rl, name);

	if (rg != NULL)
		return rg;
	if ((rg = calloc(1, sizeof *rg)) == NULL ||
	    (rg->rg_name = strdup(name)) == NULL) {
		free(rg);
		return NULL;
	}
	*rl->rl_last = rg;
	rl->rl_last = &rg->rg_next;
	return rg;
}

static int
compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t
median_of_empty(const int64_t *values)
{
	int64_t v[EMPTY_RUNS];

	memcpy(v, values, sizeof v);
	qsort(v, EMPTY_RUNS, sizeof *v, compare_values);
	return v[EMPTY_RUNS / 2];
}

/* Measure an empty region, by the functions that programs call. */
static void
calibrate(struct region_lwp *rl)
{
	static const struct counts none;
	struct region *rg = region_make(rl, CALIBRATE);
	int64_t tick[EMPTY_RUNS] = { 0 }, hrtime[EMPTY_RUNS] = { 0 };

	for (int i = -WARM_UPS; rg != NULL && i < EMPTY_RUNS; i++) {
		rg->rg_sum = none;
		region_begin(CALIBRATE);
		region_end(CALIBRATE);
		if (i < 0)
			continue;
		for (unsigned e = 0; e < REGION_MAXEVENT; e++)
			rl->rl_empty[e][i] = rg->rg_sum.rct_event[e];
		tick[i] = rg->rg_sum.rct_tick;
		hrtime[i] = rg->rg_sum.rct_hrtime;
	}
	region_pause(rl);
	for (unsigned e = 0; e < REGION_MAXEVENT; e++)
		rl->rl_cost.rct_event[e] = median_of_empty(rl->rl_empty[e]);
	rl->rl_cost.rct_tick = median_of_empty(tick);
	rl->rl_cost.rct_hrtime = median_of_empty(hrtime);
	rl->rl_first = NULL;
	rl->rl_last = &rl->rl_first;
	if (rg != NULL)
		free(rg->rg_name);
	free(rg);
}

/* Keep why the event cannot be counted with those before it. */
static void
refuse_event(struct region_event *rev, struct meter *m, const struct event *e)
{
	bool alone = meter_bind(m, e, 1) == 1;

	rev->rev_index = -1;
	rev->rev_status = alone ? NOT_COUNTED : m->m_status;
	snprintf(rev->rev_reason, sizeof rev->rev_reason, "%s",
	    alone ? "the events before it take the counters: give fewer"
		  : m->m_reason);
}

/* Bind the events that this machine can count together. */
static void
open_lwp(struct region_lwp *rl)
{
	const struct options *o = &region_all.ra_options;
	struct meter *m = &rl->rl_meter;
	struct event want[REGION_MAXEVENT];
	unsigned n = 0;

	meter_open(m);
	for (unsigned i = 0; i < o->o_nevent; i++) {
		want[n] = o->o_event[i];
		if (meter_bind(m, want, n + 1) == n + 1)
			rl->rl_event[i].rev_index = (int)n++;
		else
			refuse_event(&rl->rl_event[i], m, &o->o_event[i]);
	}
	if (n > 0 && meter_bind(m, want, n) == n)
		return;
	rl->rl_err = ENOTSUP;
	rl->rl_lost = n > 0;
	if (m->m_cpc == NULL) /* the table says it */
		return;
	fprintf(stderr, "%s: regions: LWP %u counts nothing: %s\n",
	    usage_name(), rl->rl_id,
	    o->o_nevent == 0 ? "no events" : rl->rl_event[0].rev_reason);
}

struct region_lwp *
region_first_time(void)
{
	struct region_lwp *rl;

	pthread_once(&opened, open_all);
	if ((rl = calloc(1, sizeof *rl)) == NULL)
		return NULL;
	rl->rl_last = &rl->rl_first;
	pthread_mutex_lock(&region_all.ra_lock);
	rl->rl_id = ++region_all.ra_nlwp;
	*region_all.ra_last = rl;
	region_all.ra_last = &rl->rl_next;
	open_lwp(rl);
	pthread_mutex_unlock(&region_all.ra_lock);
	region_own = rl;
	region_resume(rl);
	calibrate(rl);
	return rl;
}

int
region_refuse(struct region *rg, const char *name, const char *what)
{
	if (!rg->rg_refused)
		fprintf(stderr, "%s: region \"%s\": %s\n", usage_name(), name,
		    what);
	rg->rg_refused = true;
	errno = EINVAL;
	return -1;
}

void
region_sum_up(const struct region_lwp *rl, struct region *rg)
{
	add_counts(&rg->rg_sum, &rl->rl_now, 1);
	add_counts(&rg->rg_sum, &rg->rg_begin, -1);
	rg->rg_begin = rl->rl_now;
}
