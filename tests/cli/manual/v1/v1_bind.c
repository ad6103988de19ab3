/*
 * cpc_bind_event(3CPC), Example 1, with cpc_event_diff(3CPC).  The example
 * itself takes 20, not 21, for the end of its loop.
 */
#include "../common.h"

#include <string.h>
#include <sys/lwp.h>
#include <sys/time.h>
#include <unistd.h>

const char program[] = "v1_bind";

int
main(void)
{
	const char *spec = "pic0=" EVENT ",pic1=" EVENT;
	cpc_event_t event, accum, once[2];
	int cpuver, iter;

	if (cpc_version(CPC_VER_CURRENT) != CPC_VER_CURRENT)
		error("application:library cpc version mismatch!");
	if ((cpuver = cpc_getcpuver()) == -1)
		error("no performance counter hardware!");
	if (cpc_access() == -1)
		error("can't access perf counters: %s", strerror(errno));
	FAILS(cpc_take_sample(&event), EINVAL);
	if (cpc_strtoevent(cpuver, spec, &event) != 0)
		error("can't measure '%s' on this processor", spec);
	event.ce_pic[1] = 1000;
	if (cpc_bind_event(&event, 0) == -1)
		error("can't bind lwp%d: %s", _lwp_self(), strerror(errno));
	memset(&accum, 0, sizeof(accum));
	for (iter = 1; iter <= 20; iter++) {
		cpc_event_t before, after, diff;

		if (cpc_take_sample(&before) == -1)
			break;
		loop(1000 * (1 + iter % 2));
		if (cpc_take_sample(&after) == -1)
			break;
		CHECK(before.ce_pic[1] - before.ce_pic[0] == 1000);
		cpc_event_diff(&diff, &after, &before);
		cpc_event_accum(&accum, &diff);
		CHECK(diff.ce_hrt == after.ce_hrt);
		CHECK(accum.ce_hrt == diff.ce_hrt);
		CHECK(before.ce_hrt < after.ce_hrt);
		CHECK(after.ce_hrt <= gethrtime() && CPC_TICKREG(&diff) > 0);
		EQUAL(diff.ce_pic[0], diff.ce_pic[1]);
		if (iter > 2)
			EQUAL(diff.ce_pic[0], once[iter % 2].ce_pic[0]);
		once[iter % 2] = diff;
	}
	if (iter != 21)
		error("can't sample '%s': %s", spec, strerror(errno));
	EQUAL(once[1].ce_pic[0] - once[0].ce_pic[0], 2 * 1000);
	EQUAL(accum.ce_pic[0], 10 * (once[0].ce_pic[0] + once[1].ce_pic[0]));
	CHECK(cpc_rele() == 0);
	FAILS(cpc_take_sample(&event), EINVAL);
	return finish();
}
