/*
 * Fixed counters: each counts the event that belongs to its number.
 * Intel SDM vol. 3B, "Fixed-function Performance Counters" (the table of
 * events); AMD has none.
 */
#include <stddef.h>

#include "payloads/vpmu/vpmu.h"

enum { FIXED_INSNS, FIXED_CYCLES, FIXED_REFERENCE, FIXED_SLOTS };

#define FIXED_LOOP 100000 /* iterations */

/* The counts between two samples. */
struct window {
	int64_t count[2]; /* of the fixed PIC, and of another one */
	int64_t ticks;
};

static int64_t
passed(struct measure *m, int index)
{
	uint64_t before = 0, after = 0;

	cpc_buf_get(vpmu.v_cpc, m->vm_before, index, &before);
	cpc_buf_get(vpmu.v_cpc, m->vm_after, index, &after);
	return (int64_t)(after - before);
}

static struct window
count_window(struct measure *m)
{
	struct window w = { .ticks = 0 };

	cpc_set_sample(vpmu.v_cpc, m->vm_set, m->vm_before);
	spin_loop(FIXED_LOOP);
	cpc_set_sample(vpmu.v_cpc, m->vm_set, m->vm_after);
	for (int i = 0; i < m->vm_n; i++)
		w.count[i] = passed(m, i);
	w.ticks = (int64_t)(cpc_buf_tick(vpmu.v_cpc, m->vm_after) -
			    cpc_buf_tick(vpmu.v_cpc, m->vm_before));
	return w;
}

static unsigned
fixed_number(unsigned pic)
{
	unsigned n = 0;

	while (n < CPC_PMU_OWN && (vpmu.v_pmu.pm_own[n] >> pic & 1) == 0)
		n++;
	return n;
}

/* Bind the fixed PIC, and if possible a general one that counts cycles. */
static bool
open_pair(struct measure *m, unsigned pic, bool cycles)
{
	measure_init(m);
	if (measure_add(m, pic, vpmu.v_own, 0)) {
		if (cycles)
			measure_add_code(m, ANY_PIC, "0x3c", 0, 0);
		if (measure_bind(m))
			return true;
	}
	measure_close(m);
	return false;
}

/*
 * Both PICs count the cycles of the same loop.  One starts and
 * stops a few instructions after the other, always as many.  So the least
 * counts cannot differ by a factor of two, as those of different events do.
 */
static void
judge_cycles(struct measure *m)
{
	struct window least = count_window(m), w;

	for (unsigned i = 0; i < vpmu.v_runs; i++) {
		w = count_window(m);
		for (int j = 0; j < m->vm_n; j++) {
			if (w.count[j] < least.count[j])
				least.count[j] = w.count[j];
		}
	}
	point_note("%lld cycles of %d iterations, %lld by a general PIC",
	    (long long)least.count[0], FIXED_LOOP, (long long)least.count[1]);
	if (least.count[0] <= 0)
		point_fail("it does not count");
	if (m->vm_n == 2 && (least.count[0] > 2 * least.count[1] ||
				least.count[1] > 2 * least.count[0]))
		point_fail("it counts %lld cycles, a general PIC %lld",
		    (long long)least.count[0], (long long)least.count[1]);
}

/*
 * Reference cycles pass at the TSC's rate or slower, and not in a halt.  An
 * interrupt between a sample's two reads makes a run longer or shorter.  So
 * one run of several must have no more of them than the TSC has ticks.
 */
static void
judge_reference(struct measure *m)
{
	struct window best = count_window(m), w;

	for (unsigned i = 0; i < vpmu.v_runs; i++) {
		w = count_window(m);
		if (w.count[0] <= 0)
			point_fail("it does not count");
		if (w.count[0] - w.ticks < best.count[0] - best.ticks)
			best = w;
	}
	point_note("%lld reference cycles in %lld ticks of the TSC",
	    (long long)best.count[0], (long long)best.ticks);
	if (best.count[0] > best.ticks)
		point_fail("%lld reference cycles in %lld ticks of the TSC",
		    (long long)best.count[0], (long long)best.ticks);
}

/* A cycle has at least one slot. */
static void
judge_slots(struct measure *m)
{
	struct window w = count_window(m);

	point_note("%lld slots in %lld cycles", (long long)w.count[0],
	    (long long)w.count[1]);
	if (w.count[0] <= 0 || w.count[0] < w.count[1] / 2)
		point_fail("%lld slots in %lld cycles", (long long)w.count[0],
		    (long long)w.count[1]);
}

static void
judge_fixed(unsigned pic)
{
	unsigned number = fixed_number(pic);
	struct measure m;

	point_note("fixed counter %u", number);
	if (!open_pair(&m, pic, number != FIXED_INSNS))
		return;
	if (number == FIXED_INSNS && !vpmu.v_pic[pic].vp_exact)
		point_fail("it does not count instructions");
	else if (number == FIXED_INSNS)
		point_equal("instructions of 2000 iterations",
		    measure_difference(&m, spin_loop), SPIN_WANT);
	else if (number == FIXED_CYCLES)
		judge_cycles(&m);
	else if (number == FIXED_REFERENCE)
		judge_reference(&m);
	else
		judge_slots(&m);
	measure_close(&m);
}

const struct vpmu_property fixed_properties[] = {
	{ "fixed_event", judge_fixed, 0 },
	{ NULL, NULL, 0 },
};
