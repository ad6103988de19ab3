/* Events that the PMU announces, and events that it does not have. */
#include "payloads/vpmu/vpmu.h"

#include <stddef.h>
#include <stdio.h>

static void
judge_count(const struct arch_event *ae, unsigned pic, int64_t d)
{
	char what[40];

	snprintf(what, sizeof what, "2000 iterations on PIC %u", pic);
	switch (ae->av_rule) {
	case EVENT_GROWS:
		if (d <= 0)
			point_fail("%s count %lld", what, (long long)d);
		break;
	case EVENT_INSNS:
		point_equal(what, d, SPIN_WANT);
		break;
	case EVENT_BRANCHES:
		point_equal(what, d, LONG_LOOP - SHORT_LOOP);
		break;
	}
}

/*
 * The event on every PIC that counts any code.  A PIC may refuse it, because
 * some CPUs count some events on some PICs only.
 */
static void
judge_event(const struct arch_event *ae)
{
	enum announced a = arch_announced(ae);
	unsigned counted = 0;
	struct measure m;

	if (a == NOT_ANNOUNCED) {
		point_skip("the PMU does not announce code %s", ae->av_code);
		return;
	}
	for (unsigned pic = 0; pic < vpmu.v_npic; pic++) {
		if (!vpmu.v_pic[pic].vp_offered || vpmu.v_pic[pic].vp_fixed)
			continue;
		if (!measure_open_code(
			&m, (int)pic, ae->av_code, ae->av_umask, 0))
			continue;
		judge_count(ae, pic, measure_difference(&m, spin_loop));
		measure_close(&m);
		counted++;
	}
	point_note("counted on %u PICs", counted);
	if (counted == 0 && a == ANNOUNCED)
		point_fail("code %s is announced, and refused: %s", ae->av_code,
		    measure_refusal());
	else if (counted == 0)
		point_skip("code %s: %s", ae->av_code, measure_refusal());
}

void
judge_events(void)
{
	for (const struct arch_event *ae = arch_events(); ae->av_name != NULL;
	     ae++) {
		report_begin("event", ae->av_name);
		judge_event(ae);
		report_end();
	}
}
