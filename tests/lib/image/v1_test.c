/* Helpers for tests of version 1: events, and reports of errors. */
#include "tests/lib/image/v1_test.h"

#include <stdio.h>
#include <string.h>

struct v1_report v1_report;

static void
record_report(const char *fn, const char *fmt, va_list ap)
{
	v1_report.calls++;
	snprintf(v1_report.fn, sizeof v1_report.fn, "%s", fn);
	vsnprintf(v1_report.text, sizeof v1_report.text, fmt, ap);
}

void
v1_listen(void)
{
	memset(&v1_report, 0, sizeof v1_report);
	cpc_seterrfn(record_report);
}

cpc_event_t
v1_event(const char *pic0, const char *pic1)
{
	const char *level =
	    own_privilege() == CPC_COUNT_USER ? "" : ",nouser,sys";
	cpc_event_t event;
	char spec[256];

	snprintf(spec, sizeof spec, "pic0=%s,pic1=%s%s", pic0, pic1, level);
	EXPECT_EQ(cpc_strtoevent(cpc_getcpuver(), spec, &event), 0);
	return event;
}
