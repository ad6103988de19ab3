/*
 * cpc_bind_curlwp(3CPC), CPC_BIND_LWP_INHERIT: a new LWP counts from the
 * preset.  With notification it first gets a SIGEMT, and reads UINT64_MAX.
 */
#include "common.h"

#include <signal.h>
#include <string.h>
#include <sys/lwp.h>
#include <thread.h>

const char program[] = "v2_inherit";

#define PRESET 3000000

static cpc_t *cpc;
static cpc_set_t *set;
static int ind;
static _Thread_local int starts, overflows;

static uint64_t
value(cpc_buf_t *buf)
{
	uint64_t val;

	CHECK(cpc_set_sample(cpc, set, buf) == 0);
	CHECK(cpc_buf_get(cpc, buf, ind, &val) == 0);
	return val;
}

static void *
child(void *arg)
{
	uint64_t *result = arg;
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t start = value(buf);

	CHECK(start >= PRESET && start < PRESET + 5000);
	loop(result[0]);
	result[1] = value(buf) - start;
	return NULL;
}

static void
emt_handler(int sig, siginfo_t *sip, void *arg)
{
	static cpc_buf_t *buf;

	(void)arg;
	CHECK(sig == SIGEMT);
	if (buf == NULL)
		buf = cpc_buf_create(cpc, set);
	if (value(buf) == UINT64_MAX) {
		starts++;
		CHECK(cpc_request_preset(cpc, ind, UINT64_MAX - 9999) == 0);
	} else {
		CHECK(sip->si_code == EMT_CPCOVF);
		overflows++;
	}
	CHECK(cpc_set_restart(cpc, set) == 0);
}

static void *
notified(void *arg)
{
	(void)arg;
	loop(50000);
	EQUAL(starts, 1);
	CHECK(overflows == 10 || overflows == 11);
	return NULL;
}

int
main(void)
{
	uint64_t result[3][2] = { { 1000 }, { 2000 }, { 2000 } };
	struct sigaction act;
	thread_t tid;

	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	CHECK((set = cpc_set_create(cpc)) != NULL);
	ind = cpc_set_add_request(
	    cpc, set, EVENT, PRESET, CPC_COUNT_USER, 0, NULL);
	CHECK(ind != -1);
	CHECK(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT) == 0);
	for (int i = 0; i < 3; i++) {
		CHECK(thr_create(NULL, 0, child, result[i], THR_BOUND, &tid) ==
		      0);
		CHECK(thr_join(tid, NULL, NULL) == 0);
	}
	EQUAL(result[1][1] - result[0][1], 2 * 1000);
	EQUAL(result[2][1], result[1][1]);
	CHECK(cpc_unbind(cpc, set) == 0);

	memset(&act, 0, sizeof(act));
	act.sa_sigaction = emt_handler;
	act.sa_flags = SA_RESTART | SA_SIGINFO;
	CHECK(sigaction(SIGEMT, &act, NULL) == 0);
	CHECK((set = cpc_set_create(cpc)) != NULL);
	ind = cpc_set_add_request(cpc, set, EVENT, UINT64_MAX - 999999999ull,
	    CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL);
	CHECK(ind != -1);
	CHECK(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT) == 0);
	CHECK(thr_create(NULL, 0, notified, NULL, THR_BOUND, &tid) == 0);
	CHECK(thr_join(tid, NULL, NULL) == 0);
	EQUAL(starts + overflows, 0);
	cpc_close(cpc);
	return finish();
}
