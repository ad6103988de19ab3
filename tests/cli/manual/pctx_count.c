/*
 * pctx_capture(3CPC), pctx_set_events(3CPC), cpc_bind_pctx(): a command
 * counted as a whole.  "Thus the classic "hello world" program would see an
 * init_lwp event, a fini_lwp event and (process) exit event, in that order."
 */
#include "common.h"

#include <libpctx.h>
#include <string.h>

const char program[] = "pctx_count";

static cpc_t *cpc;

struct state {
	cpc_set_t *set;
	cpc_buf_t *before, *after, *diff;
	int ind;
	char order[32];
	pid_t pid;
	uint64_t count;
};

static int
init_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	struct state *state = arg;

	strcat(state->order, "i");
	state->pid = pid;
	CHECK(lwpid == 1);
	FAILS(cpc_bind_pctx(cpc, pctx, 77, state->set, 0), ESRCH);
	if (cpc_bind_pctx(cpc, pctx, lwpid, state->set, 0) == -1)
		error("cannot bind: %s", strerror(errno));
	if (cpc_set_sample(cpc, state->set, state->before) == -1)
		error("cannot sample: %s", strerror(errno));
	cpc_buf_get(cpc, state->before, state->ind, &state->count);
	EQUAL(state->count, 500);
	return 0;
}

static int
fini_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	struct state *state = arg;

	strcat(state->order, "f");
	CHECK(pctx != NULL && pid == state->pid && lwpid == 1);
	if (cpc_set_sample(cpc, state->set, state->after) == -1)
		error("cannot sample: %s", strerror(errno));
	cpc_buf_sub(cpc, state->diff, state->after, state->before);
	cpc_buf_get(cpc, state->diff, state->ind, &state->count);
	CHECK(cpc_unbind(cpc, state->set) == 0);
	return 0;
}

/* The page lacks the status.  The headers of Solaris have it. */
static void
proc_exit(pctx_t *pctx, pid_t pid, id_t lwpid, int status, void *arg)
{
	struct state *state = arg;

	CHECK(pctx != NULL && pid == state->pid && lwpid == 1);
	EQUAL(status, 0);
	strcat(state->order, "x");
}

static uint64_t
count(const char *turns)
{
	const char *const argv[] = { "target", "loop", turns, NULL };
	struct state state = { 0 };
	pctx_t *pctx;

	state.set = cpc_set_create(cpc);
	state.ind = cpc_set_add_request(
	    cpc, state.set, EVENT, 500, CPC_COUNT_USER, 0, NULL);
	state.before = cpc_buf_create(cpc, state.set);
	state.after = cpc_buf_create(cpc, state.set);
	state.diff = cpc_buf_create(cpc, state.set);
	CHECK(state.diff != NULL);
	pctx = pctx_create("target", (char *const *)argv, &state, 1, NULL);
	if (pctx == NULL)
		error("cannot create the process");
	CHECK(pctx_set_events(pctx, PCTX_INIT_LWP_EVENT, init_lwp,
		  PCTX_FINI_LWP_EVENT, fini_lwp, PCTX_SYSC_EXIT_EVENT,
		  proc_exit, PCTX_NULL_EVENT) == 0);
	CHECK(pctx_run(pctx, 0, 0, NULL) == 0);
	pctx_release(pctx);
	if (strcmp(state.order, "ifx") != 0)
		error("the handlers come in the order '%s'", state.order);
	CHECK(cpc_set_destroy(cpc, state.set) == 0);
	return state.count;
}

int
main(void)
{
	const char *const argv[] = { "no_such_program", NULL };

	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	uint64_t once = count("100000");
	EQUAL(count("300000") - once, 2 * 200000);
	EQUAL(count("100000"), once);
	CHECK(pctx_create("no_such_program", (char *const *)argv, NULL, 1,
		  NULL) == NULL);
	cpc_close(cpc);
	return finish();
}
