/*
 * The overflow of a PIC after N counts: its interrupt, and what it stops.
 *
 * libcpc turns the interrupt into a freeze of the set and a SIGEMT.  The frozen
 * count is the number of counts since the overflow: the lateness.
 */
#include "payloads/vpmu/vpmu.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * An interrupt that has not come after so many instructions is lost.  It is a
 * limit of the wait and no tolerance: the lateness is reported, not judged.
 */
#define WAIT_LOOPS 10000 /* times LONG_LOOP iterations */

static volatile sig_atomic_t signals;

static void
note_signal(int)
{
	signals++;
}

/* Wait for the signal.  Returns false if none came. */
static bool
wait_signal(void)
{
	for (unsigned i = 0; i < WAIT_LOOPS && signals == 0; i++)
		spin_loop(LONG_LOOP);
	return signals != 0;
}

/*
 * A set whose request 0 overflows after `after` counts.  With `others`, all
 * other PICs count, too: no PIC is left that could help to raise the interrupt.
 */
static bool
build_overflow(struct measure *m, unsigned pic, uint64_t after, bool others)
{
	bool good;

	signal(SIGEMT, note_signal);
	signals = 0;
	measure_init(m);
	good = measure_add(m, pic, vpmu.v_own | CPC_OVF_NOTIFY_EMT, -after);
	for (unsigned i = 0; good && others && i < vpmu.v_npic; i++) {
		if (i != pic && vpmu.v_pic[i].vp_event != NULL)
			good = measure_add(m, i, vpmu.v_own, 0);
	}
	return good;
}

static bool
open_overflow(struct measure *m, unsigned pic, uint64_t after, bool others)
{
	if (build_overflow(m, pic, after, others) && measure_bind(m))
		return true;
	measure_close(m);
	return false;
}

/* Can the PIC overflow while all others count? */
static bool
all_fit(unsigned pic)
{
	struct measure m;
	bool fit = build_overflow(&m, pic, UINT32_MAX, true) &&
	           cpc_bind_curlwp(vpmu.v_cpc, m.vm_set, 0) == 0;

	measure_close(&m);
	return fit;
}

static bool
has_interrupt(void)
{
	if ((cpc_caps(vpmu.v_cpc) & CPC_CAP_OVERFLOW_INTERRUPT) != 0)
		return true;
	point_fail("no overflow interrupt came in the proof at boot");
	return false;
}

static int
compare_counts(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Overflow once after so many counts; false if that is wrong. */
static bool
overflow_once(unsigned pic, uint64_t after, int64_t *late)
{
	struct measure m;
	bool good = false;

	if (!open_overflow(&m, pic, after, true))
		return false;
	if (!wait_signal())
		point_fail("no interrupt within %llu instructions of the "
			   "overflow after %llu counts",
		    (unsigned long long)SPIN_INSNS * WAIT_LOOPS * LONG_LOOP,
		    (unsigned long long)after);
	else if ((*late = (int64_t)measure_sample(&m, 0)) < 0)
		point_fail("the interrupt came %lld counts before the overflow",
		    (long long)-*late);
	else
		good = true;
	measure_close(&m);
	return good;
}

static void
judge_overflow(unsigned pic)
{
	static const uint64_t periods[] = { 100, 1000, 100000 };
	int64_t *late;

	if (!has_interrupt())
		return;
	late = calloc(vpmu.v_runs, sizeof *late);
	for (unsigned i = 0; i < sizeof periods / sizeof periods[0]; i++) {
		for (unsigned run = 0; run < vpmu.v_runs; run++) {
			if (!overflow_once(pic, periods[i], &late[run]))
				goto out;
		}
		qsort(late, vpmu.v_runs, sizeof *late, compare_counts);
		vpmu.v_late = late[(vpmu.v_runs - 1) / 2];
		point_note("after %llu counts: late by %lld to %lld, median "
			   "%lld",
		    (unsigned long long)periods[i], (long long)late[0],
		    (long long)late[vpmu.v_runs - 1], (long long)vpmu.v_late);
	}
out:
	free(late);
}

/*
 * The interrupt stops all PICs.  They count neither in the handler nor after
 * it, and no second signal comes.  PICs that count instructions stopped at the
 * same one, because at user privilege the stop itself counts nothing.
 */
static void
judge_freeze(unsigned pic)
{
	const uint64_t after = 1000;
	uint64_t value[VPMU_PICS];
	struct measure m;
	int index = 1;

	if ((cpc_caps(vpmu.v_cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0) {
		point_skip("no overflow interrupt comes");
		return;
	}
	/* A PIC that needs a helper fails the point `overflow`, not this. */
	bool others = all_fit(pic);
	if (!open_overflow(&m, pic, after, others))
		return;
	if (!wait_signal())
		point_fail("no interrupt came");
	for (int i = 0; i < m.vm_n; i++)
		value[i] = measure_sample(&m, i);
	spin_loop(LONG_LOOP);
	for (int i = 0; i < m.vm_n; i++)
		point_equal("counts of a frozen PIC",
		    (int64_t)(measure_sample(&m, i) - value[i]), 0);
	point_equal("signals of one overflow", signals, 1);
	for (unsigned i = 0; others && i < vpmu.v_npic; i++) {
		if (i == pic || vpmu.v_pic[i].vp_event == NULL)
			continue;
		if (vpmu.v_pic[i].vp_exact && vpmu.v_pic[pic].vp_exact)
			point_equal("instructions of another PIC at the freeze",
			    (int64_t)value[index], (int64_t)(value[0] + after));
		index++;
	}
	measure_close(&m);
}

const struct vpmu_property overflow_properties[] = {
	{ "overflow", judge_overflow, NEEDS_USER },
	{ "freeze", judge_freeze, NEEDS_USER },
	{ NULL, NULL, 0 },
};
