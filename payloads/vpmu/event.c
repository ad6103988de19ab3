/*
 * Events that the PMU announces, and events that it does not have.
 */
#include "payloads/vpmu/vpmu.h"

#include <stddef.h>

static void
judge_count(const struct arch_event *ae, int64_t d)
{
	switch (ae->av_rule) {
	case EVENT_GROWS:
		if (d <= 0)
			point_fail("%d iterations count %lld more than %d",
			    LONG_LOOP, (long long)d, SHORT_LOOP);
		break;
	case EVENT_INSNS:
		point_equal("2000 iterations", d, SPIN_WANT);
		break;
	case EVENT_BRANCHES:
		point_equal("2000 iterations", d, LONG_LOOP - SHORT_LOOP);
		break;
	}
}

static void
judge_event(const struct arch_event *ae)
{
	enum announced a = arch_announced(ae);
	struct measure m;

	if (a == NOT_ANNOUNCED) {
		point_skip("the PMU does not announce code %s", ae->av_code);
		return;
	}
	if (!measure_open_code(&m, ae->av_code, ae->av_umask, 0)) {
		if (a == ANNOUNCED)
			point_fail("code %s is announced, and refused: %s",
			    ae->av_code, measure_refusal());
		else
			point_skip(
			    "code %s: %s", ae->av_code, measure_refusal());
		return;
	}
	judge_count(ae, measure_difference(&m, spin_loop));
	measure_close(&m);
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
