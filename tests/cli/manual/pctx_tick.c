/*
 * pctx_capture(3CPC): a process captured by its id, stopped at each tick, and
 * released to go on.  One that was created is killed.
 */
#include "common.h"

#include <fcntl.h>
#include <libpctx.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

const char program[] = "pctx_tick";

static cpc_t *cpc;
static cpc_set_t *set;
static cpc_buf_t *before, *after, *diff;
static int ind, ticks, errors;
static uint64_t total;
static pid_t target;

static int
init_lwp(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	CHECK(arg == &ticks && lwpid == 1);
	target = pid;
	CHECK(cpc_bind_pctx(cpc, pctx, lwpid, set, 0) == 0);
	CHECK(cpc_set_sample(cpc, set, before) == 0);
	return 0;
}

static int
tick(pctx_t *pctx, pid_t pid, id_t lwpid, void *arg)
{
	uint64_t val;

	CHECK(pctx != NULL && pid == target && arg == &ticks && lwpid == 1);
	CHECK(cpc_set_sample(cpc, set, after) == 0);
	cpc_buf_sub(cpc, diff, after, before);
	cpc_buf_get(cpc, diff, ind, &val);
	total += val;
	CHECK(cpc_buf_hrtime(cpc, after) > cpc_buf_hrtime(cpc, before));
	cpc_buf_copy(cpc, before, after);
	ticks++;
	return 0;
}

static void
errfn(const char *fn, const char *fmt, va_list ap)
{
	char text[200];

	vsnprintf(text, sizeof(text), fmt, ap);
	CHECK(fn[0] != '\0' && text[0] != '\0');
	errors++;
}

static void
sample(pctx_t *pctx)
{
	if (pctx == NULL)
		error("no process: %s", strerror(errno));
	CHECK(pctx_set_events(
		  pctx, PCTX_INIT_LWP_EVENT, init_lwp, PCTX_NULL_EVENT) == 0);
	ticks = 0;
	total = 0;
	if (pctx_run(pctx, 5, 4, tick) != 0)
		error("pctx_run after %d ticks", ticks);
	/* A late tick skips those that are due by then. */
	CHECK(ticks >= 1 && ticks <= 4 && total > 0);
	pctx_release(pctx);
}

int
main(void)
{
	const char *const argv[] = { "target", "loop", "1000000000000", NULL };
	int status, end[2];
	char byte = 0;
	pid_t pid;

	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	CHECK((set = cpc_set_create(cpc)) != NULL);
	ind = cpc_set_add_request(cpc, set, EVENT, 0, CPC_COUNT_USER, 0, NULL);
	CHECK((before = cpc_buf_create(cpc, set)) != NULL);
	CHECK((after = cpc_buf_create(cpc, set)) != NULL);
	CHECK((diff = cpc_buf_create(cpc, set)) != NULL);

	sample(pctx_create("target", (char *const *)argv, &ticks, 1, NULL));
	errno = 0;
	CHECK(kill(target, 0) == -1 && errno == ESRCH);

	CHECK(pipe(end) == 0 && (pid = fork()) != -1);
	if (pid == 0) {
		fcntl(end[0], F_SETFL, O_NONBLOCK);
		while (read(end[0], &byte, 1) == -1)
			loop(100000);
		_exit(17);
	}
	sample(pctx_capture(pid, &ticks, 1, NULL));
	CHECK(target == pid && write(end[1], &byte, 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);

	CHECK(pctx_capture(pid, NULL, 1, errfn) == NULL && errors > 0);
	cpc_close(cpc);
	return finish();
}
