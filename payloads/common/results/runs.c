/*
 * Find the runs that something disturbed: an interrupt, the firmware, a change
 * of clock rate, a hypervisor that ran something else.
 */
#include "payloads/common/results/runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/results/series.h"
#include "payloads/common/usage.h"

const char *const condition_words[COND_N] = {
	[COND_INTERRUPTS] = "interrupts",
	[COND_NMIS] = "nmis",
	[COND_SMIS] = "smis",
	[COND_THROTTLES] = "throttles",
	[COND_ERRORS] = "errors",
	[COND_SETTINGS] = "settings",
	[COND_KERNEL] = "kernel",
};

void
condition_add(struct condition *to, const struct condition *c)
{
	for (unsigned k = 0; k < COND_N; k++) {
		if (to->cn_count[k] == COND_UNKNOWN ||
		    c->cn_count[k] == COND_UNKNOWN)
			to->cn_count[k] = COND_UNKNOWN;
		else
			to->cn_count[k] += c->cn_count[k];
	}
	to->cn_moved = to->cn_moved || c->cn_moved;
	to->cn_tick += c->cn_tick;
	to->cn_hrtime += c->cn_hrtime;
	to->cn_aperf += c->cn_aperf;
	to->cn_mperf += c->cn_mperf;
}

void
condition_between(struct condition *c, const struct barecpc_interrupts *before,
    const struct barecpc_interrupts *after)
{
	int64_t *count = c->cn_count;

	memset(c, 0, sizeof *c);
	for (unsigned k = 0; k < COND_N; k++)
		count[k] = COND_UNKNOWN;
	if (before == NULL)
		return;
	c->cn_moved = before->by_cpu != after->by_cpu;
	if (c->cn_moved)
		return;
	count[COND_INTERRUPTS] =
	    (int64_t)(after->by_interrupts - before->by_interrupts);
	count[COND_NMIS] = (int64_t)(after->by_nmis - before->by_nmis);
	uint32_t flags = before->by_flags & after->by_flags;
	if ((flags & BARECPC_INTERRUPTS_SMIS) != 0)
		count[COND_SMIS] = (uint32_t)(after->by_smis - before->by_smis);
	if ((flags & BARECPC_INTERRUPTS_THROTTLES) != 0)
		count[COND_THROTTLES] =
		    (int64_t)(after->by_throttles - before->by_throttles);
	if ((flags & BARECPC_INTERRUPTS_ERRORS) != 0)
		count[COND_ERRORS] =
		    (int64_t)(after->by_errors - before->by_errors);
	if ((flags & BARECPC_INTERRUPTS_SETTINGS) != 0)
		count[COND_SETTINGS] =
		    (int64_t)(after->by_settings - before->by_settings);
	if ((flags & BARECPC_INTERRUPTS_RATE) != 0) {
		c->cn_aperf = (int64_t)(after->by_aperf - before->by_aperf);
		c->cn_mperf = (int64_t)(after->by_mperf - before->by_mperf);
	}
}

void
runs_open(struct runs *rn, unsigned n)
{
	memset(rn, 0, sizeof *rn);
	rn->rn_run = fail_unless_room(calloc(n, sizeof *rn->rn_run));
	rn->rn_disturbed = fail_unless_room(calloc(n, sizeof(bool)));
}

void
runs_add(struct runs *rn, const struct condition *c)
{
	rn->rn_run[rn->rn_n++] = *c;
}

void
runs_free(struct runs *rn)
{
	free(rn->rn_run);
	free(rn->rn_disturbed);
	memset(rn, 0, sizeof *rn);
}

static int
compare_counts(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

bool
runs_always_wrong(enum condition_kind k)
{
	return k == COND_THROTTLES || k == COND_ERRORS || k == COND_SETTINGS;
}

/* The most frequent count, in a tie the smallest; COND_UNKNOWN: none knows. */
static int64_t
usual_count(const struct runs *rn, enum condition_kind k)
{
	int64_t *v = fail_unless_room(malloc(rn->rn_n * sizeof *v));
	int64_t usual = COND_UNKNOWN;
	unsigned n = 0, most = 0, same = 0;

	for (unsigned i = 0; i < rn->rn_n; i++) {
		if (rn->rn_run[i].cn_count[k] != COND_UNKNOWN)
			v[n++] = rn->rn_run[i].cn_count[k];
	}
	qsort(v, n, sizeof *v, compare_counts);
	for (unsigned i = 0; i < n; i++) {
		same = i > 0 && v[i] == v[i - 1] ? same + 1 : 1;
		if (same > most) {
			most = same;
			usual = runs_always_wrong(k) ? 0 : v[i];
		}
	}
	free(v);
	return usual;
}

/*
 * A quotient of two counters: a run's hrtime by its tick, or its APERF by its
 * MPERF.  Intel SDM vol. 3B, "Hardware Feedback (APERF, MPERF)": only their
 * ratio has a meaning.
 */
struct quotient {
	int64_t qo_above, qo_below;
};

static struct quotient
ratio_of(const struct condition *c)
{
	return (struct quotient){ c->cn_hrtime, c->cn_tick };
}

static struct quotient
rate_of(const struct condition *c)
{
	return (struct quotient){ c->cn_aperf, c->cn_mperf };
}

static bool
is_known(struct quotient q)
{
	return q.qo_above > 0 && q.qo_below > 0;
}

/* Without a division. */
static int
compare_quotients(const void *a, const void *b)
{
	const struct quotient *x = a, *y = b;
	wide_t p = (wide_t)x->qo_above * y->qo_below;
	wide_t q = (wide_t)y->qo_above * x->qo_below;

	return (p > q) - (p < q);
}

/* The median of the quotients that are known, or 0, 0. */
static struct quotient
usual_quotient(
    const struct runs *rn, struct quotient (*of)(const struct condition *c))
{
	struct quotient *v = fail_unless_room(malloc(rn->rn_n * sizeof *v));
	struct quotient usual = { 0, 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < rn->rn_n; i++) {
		if (is_known(of(&rn->rn_run[i])))
			v[n++] = of(&rn->rn_run[i]);
	}
	qsort(v, n, sizeof *v, compare_quotients);
	if (n > 0)
		usual = v[(n - 1) / 2];
	free(v);
	return usual;
}

/*
 * Is the ratio off the usual one?  An hrtime is right to one period of its
 * clock and a nanosecond, and a tick to one.  A sample reads one clock after
 * the other.  The time in between is at most `gap` ns, the hrtime of a run
 * that does nothing but sample.  On top of that 1 % is allowed.  A step of a
 * CPU's rate is 100 MHz, which is 1 % of 10 GHz. Intel SDM vol. 4,
 * "MSR_PLATFORM_INFO": ratios are of 100 MHz.
 */
static bool
ratio_differs(const struct condition *c, const struct condition *usual,
    uint64_t tick_hz, int64_t gap)
{
	wide_t here = (wide_t)c->cn_hrtime * usual->cn_tick;
	wide_t there = (wide_t)usual->cn_hrtime * c->cn_tick;
	wide_t off = here > there ? here - there : there - here, period, slack;

	if (tick_hz == 0 || !is_known(ratio_of(c)) ||
	    !is_known(ratio_of(usual)))
		return false;
	period = 2 + 1000000000 / tick_hz + (wide_t)gap;
	slack = period * (c->cn_tick + usual->cn_tick) + c->cn_hrtime +
	        usual->cn_hrtime;
	return (off - slack) * 100 > there;
}

/*
 * Is the rate more than 1 % off the usual one?  Both counters are read one
 * after the other, and may advance in steps of the bus clock.  So each may be
 * wrong by so many ticks.
 */
#define RATE_STEP 100

static bool
rate_differs(const struct condition *c, const struct condition *usual)
{
	wide_t here = (wide_t)c->cn_aperf * usual->cn_mperf;
	wide_t there = (wide_t)usual->cn_aperf * c->cn_mperf;
	wide_t off = here > there ? here - there : there - here;

	wide_t slack =
	    (wide_t)RATE_STEP *
	    (c->cn_aperf + c->cn_mperf + usual->cn_aperf + usual->cn_mperf);

	return is_known(rate_of(c)) && is_known(rate_of(usual)) &&
	       (off - slack) * 100 > there;
}

bool
runs_count_differs(const struct runs *rn, unsigned i, enum condition_kind k)
{
	int64_t count = rn->rn_run[i].cn_count[k];

	return count != COND_UNKNOWN && count != rn->rn_usual.cn_count[k];
}

void
runs_judge(
    struct runs *rn, const struct runs *empty, bool exclude, uint64_t tick_hz)
{
	struct quotient ratio = usual_quotient(rn, ratio_of);
	struct quotient rate = usual_quotient(rn, rate_of);

	for (unsigned k = 0; k < COND_N; k++)
		rn->rn_usual.cn_count[k] = usual_count(rn, k);
	rn->rn_usual.cn_hrtime = ratio.qo_above;
	rn->rn_usual.cn_tick = ratio.qo_below;
	rn->rn_usual.cn_aperf = rate.qo_above;
	rn->rn_usual.cn_mperf = rate.qo_below;
	int64_t gap = empty != NULL ? empty->rn_usual.cn_hrtime : 0;
	for (unsigned i = 0; i < rn->rn_n; i++) {
		struct condition *c = &rn->rn_run[i];
		bool disturbed = c->cn_moved;

		for (unsigned k = 0; k < COND_N; k++)
			disturbed = disturbed || runs_count_differs(rn, i, k);
		c->cn_ratio_differs =
		    ratio_differs(c, &rn->rn_usual, tick_hz, gap);
		c->cn_rate_differs = rate_differs(c, &rn->rn_usual);
		rn->rn_disturbed[i] =
		    disturbed || c->cn_ratio_differs || c->cn_rate_differs;
		rn->rn_ndisturbed += rn->rn_disturbed[i];
	}
	if (exclude && rn->rn_ndisturbed != 0 && rn->rn_ndisturbed < rn->rn_n)
		rn->rn_excluded = rn->rn_disturbed;
	rn->rn_nexcluded = rn->rn_excluded != NULL ? rn->rn_ndisturbed : 0;
}
