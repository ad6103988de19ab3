/* pctx_set_events(3CPC), "System Calls and pctx Handlers": exec and threads. */
#include "common.h"

#include <libpctx.h>
#include <string.h>

const char program[] = "pctx_follow";

static cpc_t *cpc;
static cpc_set_t *set;
static cpc_buf_t *buf;
static int ind;
static char order[200];
static uint64_t total;

static void
note(const char *what, id_t lwpid)
{
	size_t end = strlen(order);

	snprintf(order + end, sizeof(order) - end, "%s%d ", what, (int)lwpid);
}

static int
init_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	(void)pid, (void)arg;
	note("init", lwpid);
	if (lwpid == 1)
		CHECK(cpc_bind_pctx(cpc, pctx, lwpid, set, 0) == 0);
	return 0;
}

static int
fini_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	(void)pctx, (void)pid, (void)arg;
	note("fini", lwpid);
	if (lwpid == 1) {
		CHECK(cpc_set_sample(cpc, set, buf) == 0);
		CHECK(cpc_buf_get(cpc, buf, ind, &total) == 0);
		CHECK(cpc_unbind(cpc, set) == 0);
	}
	return 0;
}

static int
lwp_create(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	(void)pctx, (void)pid, (void)arg;
	note("create", lwpid);
	return 0;
}

static int
lwp_exit(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	(void)pctx, (void)pid, (void)arg;
	note("lwp_exit", lwpid);
	return 0;
}

static void
proc_exit(pctx_t *pctx, pid_t pid, id_t lwpid, int status, void *arg)
{
	(void)pctx, (void)pid, (void)arg;
	EQUAL(status, 0);
	note("exit", lwpid);
}

static int
HandleExec(pctx_t *pctx, pid_t pid, id_t lwpid, char *cmd, void *arg)
{
	(void)pctx, (void)pid, (void)arg;
	CHECK(strstr(cmd, "target") != NULL);
	note("exec", lwpid);
	return 0;
}

/* The handlers that a target calls, and the count of its first LWP. */
static uint64_t
follow(const char *what, const char *turns, const char *handlers)
{
	const char *const argv[] = { "target", what, turns, NULL };
	pctx_t *pctx;

	order[0] = '\0';
	pctx = pctx_create("target", (char *const *)argv, order, 1, NULL);
	CHECK(pctx != NULL);
	CHECK(pctx_set_events(pctx, PCTX_SYSC_EXEC_EVENT, HandleExec,
		  PCTX_SYSC_EXIT_EVENT, proc_exit, PCTX_SYSC_LWP_CREATE_EVENT,
		  lwp_create, PCTX_INIT_LWP_EVENT, init_lwp,
		  PCTX_FINI_LWP_EVENT, fini_lwp, PCTX_SYSC_LWP_EXIT_EVENT,
		  lwp_exit, PCTX_NULL_EVENT) == 0);
	CHECK(pctx_run(pctx, 0, 0, NULL) == 0);
	pctx_release(pctx);
	if (strcmp(order, handlers) != 0)
		error("%s: handlers: %s", what, order);
	return total;
}

int
main(void)
{
	/* The first exec fails, the second succeeds. */
	const char exec[] = "init1 fini1 init1 fini1 exec1 init1 fini1 exit1 ";

	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	CHECK((set = cpc_set_create(cpc)) != NULL);
	ind = cpc_set_add_request(cpc, set, EVENT, 0, CPC_COUNT_USER, 0, NULL);
	CHECK(ind != -1 && (buf = cpc_buf_create(cpc, set)) != NULL);
	uint64_t once = follow("exec", "1000", exec);
	EQUAL(follow("exec", "3000", exec) - once, 2 * 2000);
	follow("threads", "1000",
	    "init1 init2 create2 fini2 lwp_exit2 fini1 exit1 ");
	cpc_close(cpc);
	return finish();
}
