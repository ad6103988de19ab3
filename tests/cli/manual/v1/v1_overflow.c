/* cpc_bind_event(3CPC), Example 2, and a new LWP inherits with signals. */
#include "../common.h"

#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/lwp.h>
#include <thread.h>
#include <ucontext.h>

const char program[] = "v1_overflow";

#define PRESET0 (UINT64_MAX - UINT64_C(999))
#define PRESET1 0

static volatile int signals, fresh;

static void
emt_handler(int sig, siginfo_t *sip, void *arg)
{
	ucontext_t *uap = arg;
	cpc_event_t sample;

	CHECK(sig == SIGEMT && uap->uc_mcontext.gregs[USP] != 0);
	if (cpc_take_sample(&sample) == -1)
		error("can't sample: %s", strerror(errno));
	if (sample.ce_pic[0] == UINT64_MAX && sample.ce_pic[1] == UINT64_MAX)
		fresh++;
	else {
		CHECK(sip->si_code == EMT_CPCOVF);
		CHECK(sample.ce_pic[0] < 50);
		CHECK(sample.ce_pic[1] >= 1000 && sample.ce_pic[1] < 1050);
		signals++;
	}
	sample.ce_pic[0] = PRESET0;
	sample.ce_pic[1] = PRESET1;
	if (cpc_bind_event(&sample, CPC_BIND_EMT_OVF) == -1)
		error("cannot bind lwp%d: %s", _lwp_self(), strerror(errno));
}

static void *
child(void *arg)
{
	loop(50000);
	return arg;
}

int
main(void)
{
	struct sigaction act;
	thread_t tid;
	cpc_event_t event;
	int cpuver = cpc_getcpuver(), n;

	CHECK(cpc_access() == 0);
	memset(&act, 0, sizeof(act));
	act.sa_sigaction = emt_handler;
	bzero(&act.sa_mask, sizeof(act.sa_mask));
	act.sa_flags = SA_RESTART | SA_SIGINFO;
	if (sigaction(SIGEMT, &act, NULL) == -1)
		error("sigaction: %s", strerror(errno));
	CHECK(
	    cpc_strtoevent(cpuver, "pic0=" EVENT ",pic1=" EVENT, &event) == 0);
	event.ce_pic[0] = PRESET0;
	event.ce_pic[1] = PRESET1;
	if (cpc_bind_event(&event, CPC_BIND_EMT_OVF) == -1)
		error("cannot bind lwp%d: %s", _lwp_self(), strerror(errno));
	loop(50000);
	n = signals;
	loop(100000);
	CHECK(cpc_bind_event(NULL, 0) == 0); /* done */
	CHECK(n >= 100 && n <= 140);
	CHECK(signals >= 3 * n - 3 && signals <= 3 * n + 3);
	FAILS(cpc_take_sample(&event), EINVAL);

	/* Inherited with signals: the new LWP is told at once. */
	event.ce_pic[0] = PRESET0 - 1000000000ull;
	CHECK(cpc_bind_event(&event, CPC_BIND_EMT_OVF | CPC_BIND_LWP_INHERIT) ==
	      0);
	n = signals;
	CHECK(thr_create(NULL, 0, child, NULL, THR_BOUND, &tid) == 0);
	CHECK(thr_join(tid, NULL, NULL) == 0);
	EQUAL(fresh, 1);
	CHECK(signals - n >= 100 && signals - n <= 140);
	CHECK(cpc_rele() == 0);
	return finish();
}
