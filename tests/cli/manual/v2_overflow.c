/*
 * cpc_bind_curlwp(3CPC), Example 2: a SIGEMT after each 1000 counts, and after
 * each 5000 once cpc_request_preset() says so.
 */
#include "common.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/lwp.h>
#include <ucontext.h>

#define PRESET (UINT64_MAX - 999ull)

const char program[] = "v2_overflow";

cpc_t *cpc;
cpc_set_t *set;
cpc_buf_t *buf;
int index;

static int signals, inside;
static uint64_t preset, last;

static void
emt_handler(int sig, siginfo_t *sip, void *arg)
{
	ucontext_t *uap = arg;

	if (sig != SIGEMT || sip->si_code != EMT_CPCOVF || uap == NULL) {
		psignal(sig, "example");
		psiginfo(sip, "example");
		error("signal %d, code %d", sig, sip->si_code);
	}
	uintptr_t pc = (uintptr_t)sip->si_addr;
	CHECK((uintptr_t)uap->uc_mcontext.gregs[PC] == pc);
	CHECK(uap->uc_mcontext.gregs[SP] != 0);
	if (pc >= (uintptr_t)loop && pc < (uintptr_t)loop + 16)
		inside++;
	if (cpc_set_sample(cpc, set, buf) != 0)
		error("cannot sample: %s", strerror(errno));
	cpc_buf_get(cpc, buf, index, &last);
	if (last > 50)
		error("the counter is at %" PRIu64 " in the handler", last);
	signals++;
	if (preset != 0 && cpc_request_preset(cpc, index, preset) != 0)
		error("cannot set preset: %s", strerror(errno));
	if (cpc_set_restart(cpc, set) != 0)
		error("cannot restart lwp%d: %s", _lwp_self(), strerror(errno));
}

/* The number of signals in so many instructions of the loop. */
static int
signals_in(uint64_t instructions)
{
	signals = inside = 0;
	CHECK(cpc_bind_curlwp(cpc, set, 0) == 0);
	loop(instructions / 2);
	int n = signals;
	CHECK(cpc_unbind(cpc, set) == 0);
	/* All but one that may come between bind and loop. */
	CHECK(inside >= n - 1);
	return n;
}

int
main(void)
{
	struct sigaction act;

	bzero(&act, sizeof(act));
	act.sa_sigaction = emt_handler;
	bzero(&act.sa_mask, sizeof(act.sa_mask));
	act.sa_flags = SA_RESTART | SA_SIGINFO;
	if (sigaction(SIGEMT, &act, NULL) == -1)
		error("sigaction: %s", strerror(errno));
	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	CHECK((set = cpc_set_create(cpc)) != NULL);
	FAILS(cpc_request_preset(cpc, 0, 0), EINVAL);
	FAILS(cpc_set_restart(cpc, set), EINVAL);
	CHECK((index = cpc_set_add_request(cpc, set, EVENT, PRESET,
		   CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL)) == 0);
	CHECK((buf = cpc_buf_create(cpc, set)) != NULL);

	/* The handler's end is counted too: under 100 of each 1000. */
	int n = signals_in(100000);
	int n2 = signals_in(200000);
	CHECK(n >= 100 && n <= 112);
	CHECK(n2 >= 2 * n - 1 && n2 <= 2 * n + 1);
	preset = UINT64_MAX - 4999ull;
	n = signals_in(100000);
	CHECK(n >= 20 && n <= 22);
	/* The request keeps its own preset, where the next bind starts. */
	preset = 0;
	CHECK(signals_in(900) == 0 && signals_in(1000) == 1);
	cpc_close(cpc);
	return finish();
}
