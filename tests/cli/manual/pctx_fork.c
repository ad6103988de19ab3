/* pctx_set_events(3CPC), the fork handler: it runs in a forked controller. */
#include "common.h"

#include <libpctx.h>
#include <string.h>
#include <unistd.h>

const char program[] = "pctx_fork";

static cpc_t *cpc;
static cpc_set_t *set;
static cpc_buf_t *buf;
static int ind, ends[2];
static pid_t parent;

static struct report {
	uint64_t count;
	char order[8];
} report;

static int
init_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	(void)pid, (void)arg;
	strcat(report.order, "i");
	CHECK(cpc_bind_pctx(cpc, pctx, lwpid, set, 0) == 0);
	return 0;
}

static int
fini_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	(void)pctx, (void)pid, (void)lwpid, (void)arg;
	strcat(report.order, "f");
	CHECK(cpc_set_sample(cpc, set, buf) == 0);
	CHECK(cpc_buf_get(cpc, buf, ind, &report.count) == 0);
	return 0;
}

static int
see_parent(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	(void)pctx, (void)lwpid, (void)arg;
	parent = pid;
	return 0;
}

/*
 * The page has pid, lwpid, child.  Solaris passes the pids of parent and child,
 * then the LWP.  "The process is released on return from the handler."
 */
static void
handle_fork(pctx_t *pctx, pid_t pid, id_t child, pid_t lwpid, void *arg)
{
	CHECK(arg == &report && pid == parent && lwpid == 1);
	CHECK((pid_t)child != pid);
	CHECK(pctx_set_events(pctx, PCTX_INIT_LWP_EVENT, init_lwp,
		  PCTX_FINI_LWP_EVENT, fini_lwp, PCTX_NULL_EVENT) == 0);
	CHECK(pctx_run(pctx, 0, 0, NULL) == 0);
	CHECK(write(ends[1], &report, sizeof(report)) == sizeof(report));
}

/* The count of the child alone. */
static uint64_t
follow(const char *turns)
{
	const char *const argv[] = { "target", "fork", turns, NULL };
	struct report got;
	pctx_t *pctx;

	pctx = pctx_create("target", (char *const *)argv, &report, 1, NULL);
	CHECK(pctx != NULL);
	CHECK(pctx_set_events(pctx, PCTX_INIT_LWP_EVENT, see_parent,
		  PCTX_SYSC_FORK_EVENT, handle_fork, PCTX_NULL_EVENT) == 0);
	CHECK(pctx_run(pctx, 0, 0, NULL) == 0);
	pctx_release(pctx);
	CHECK(read(ends[0], &got, sizeof(got)) == sizeof(got));
	if (strcmp(got.order, "if") != 0)
		error("handlers of the child: %s", got.order);
	return got.count;
}

int
main(void)
{
	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL && pipe(ends) == 0);
	CHECK((set = cpc_set_create(cpc)) != NULL);
	ind = cpc_set_add_request(cpc, set, EVENT, 0, CPC_COUNT_USER, 0, NULL);
	CHECK(ind != -1 && (buf = cpc_buf_create(cpc, set)) != NULL);
	uint64_t once = follow("1000");
	EQUAL(follow("3000") - once, 2 * 2000);
	cpc_close(cpc);
	return finish();
}
