/* cpc_pctx_bind_event(3CPC): version 1's counters of a controlled process. */
#include "../common.h"

#include <libpctx.h>

const char program[] = "v1_pctx";

static cpc_event_t event, last;

static int
init_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	cpc_event_t sample;

	(void)pid, (void)arg;
	FAILS(cpc_pctx_take_sample(pctx, lwpid, &sample), EINVAL);
	FAILS(cpc_pctx_bind_event(pctx, 77, &event, 0), ESRCH);
	if (cpc_pctx_bind_event(pctx, lwpid, &event, 0) == -1)
		error("cannot bind: %s", strerror(errno));
	CHECK(cpc_pctx_take_sample(pctx, lwpid, &sample) == 0);
	EQUAL(sample.ce_pic[0], 0);
	return 0;
}

static int
fini_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	cpc_event_t sample;

	(void)pid, (void)arg;
	CHECK(cpc_pctx_take_sample(pctx, lwpid, &last) == 0);
	CHECK(cpc_pctx_invalidate(pctx, lwpid) == 0);
	FAILS(cpc_pctx_take_sample(pctx, lwpid, &sample), EAGAIN);
	CHECK(cpc_pctx_rele(pctx, lwpid) == 0);
	FAILS(cpc_pctx_take_sample(pctx, lwpid, &sample), EINVAL);
	return 0;
}

static uint64_t
count(const char *what, const char *turns)
{
	const char *const argv[] = { "target", what, turns, NULL };
	pctx_t *pctx =
	    pctx_create("target", (char *const *)argv, NULL, 1, NULL);

	CHECK(pctx != NULL);
	CHECK(pctx_set_events(pctx, PCTX_INIT_LWP_EVENT, init_lwp,
		  PCTX_FINI_LWP_EVENT, fini_lwp, PCTX_NULL_EVENT) == 0);
	CHECK(pctx_run(pctx, 0, 0, NULL) == 0);
	pctx_release(pctx);
	EQUAL(last.ce_pic[0], last.ce_pic[1]);
	return last.ce_pic[0];
}

int
main(void)
{
	CHECK(cpc_access() == 0);
	CHECK(cpc_strtoevent(
		  cpc_getcpuver(), "pic0=" EVENT ",pic1=" EVENT, &event) == 0);
	uint64_t once = count("loop", "1000");
	EQUAL(count("loop", "3000") - once, 2 * 2000);
	/* The target says what to count. */
	CHECK(cpc_strtoevent(cpc_getcpuver(),
		  "pic0=" EVENT ",pic1=" EVENT ",nouser", &event) == 0);
	once = count("marked", "1000");
	CHECK(once >= 2000 && once < 3000);
	EQUAL(count("marked", "3000") - once, 2 * 2000);
	return finish();
}
