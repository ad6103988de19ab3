/*
 * cpc_count_usr_events(3CPC): user events, then events of the system, enabled
 * and disabled.  cpc_bind_event(3CPC): an event that a new LWP inherits.
 */
#include "../common.h"

#include <thread.h>

const char program[] = "v1_count";

static uint64_t
now(void)
{
	cpc_event_t sample;

	CHECK(cpc_take_sample(&sample) == 0);
	return sample.ce_pic[0];
}

static void *
child(void *arg)
{
	uint64_t start = now();

	CHECK(start < 5000);
	loop(1000);
	CHECK(now() >= start + 2000 && now() < start + 5000);
	return arg;
}

int
main(void)
{
	int cpuver = cpc_getcpuver();
	cpc_event_t event, sys;
	thread_t tid;

	CHECK(cpc_access() == 0);
	FAILS(cpc_count_usr_events(1), EINVAL);
	FAILS(cpc_count_sys_events(1), EINVAL);
	CHECK(
	    cpc_strtoevent(cpuver, "pic0=" EVENT ",pic1=" EVENT, &event) == 0);
	CHECK(cpc_bind_event(&event, CPC_BIND_LWP_INHERIT) == 0);
	CHECK(cpc_count_usr_events(0) == 0);
	uint64_t v0 = now();
	loop(100000);
	uint64_t v1 = now();
	EQUAL(v1, v0);
	CHECK(cpc_count_usr_events(1) == 0);
	v0 = now();
	loop(1000);
	v1 = now();
	CHECK(v1 - v0 >= 2000 && v1 - v0 < 4000);
	CHECK(thr_create(NULL, 0, child, NULL, THR_BOUND, &tid) == 0);
	CHECK(thr_join(tid, NULL, NULL) == 0);
	CHECK(cpc_count_usr_events(0) == 0);
	CHECK(cpc_count_sys_events(1) == 0);
	v0 = now();
	loop(100000);
	v1 = now();
	CHECK(v1 > v0 && v1 - v0 < 100000);
	CHECK(cpc_strtoevent(cpuver, "pic0=" EVENT ",pic1=" EVENT ",sys,nouser",
		  &sys) == 0);
	CHECK(cpc_bind_event(&sys, 0) == 0);
	v0 = now();
	loop(100000);
	v1 = now();
	CHECK(v1 > v0 && v1 - v0 < 100000);
	CHECK(cpc_rele() == 0);
	return finish();
}
