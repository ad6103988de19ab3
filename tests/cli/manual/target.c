/* The controlled process: target loop|marked|exec|fork|threads TURNS. */
#include "common.h"

#include <string.h>
#include <sys/wait.h>
#include <thread.h>
#include <unistd.h>

const char program[] = "target";

static void *
thread(void *arg)
{
	loop(*(uint64_t *)arg);
	return NULL;
}

/* The example of cpc_count_usr_events(3CPC). */
static void
marked(uint64_t turns)
{
	int have_counters = 0;

	if (cpc_version(CPC_VER_CURRENT) == CPC_VER_CURRENT &&
	    cpc_getcpuver() != -1 && cpc_access() == 0)
		have_counters = 1;
	loop(100000 + turns);
	if (have_counters)
		(void)cpc_count_usr_events(1);
	loop(turns);
	if (have_counters)
		(void)cpc_count_usr_events(0);
	loop(100000 + turns);
}

int
main(int argc, char *argv[])
{
	const char *what = argc == 3 ? argv[1] : "";
	uint64_t turns = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	thread_t tid;
	pid_t pid;

	if (strcmp(what, "loop") == 0)
		loop(turns);
	else if (strcmp(what, "marked") == 0)
		marked(turns);
	else if (strcmp(what, "exec") == 0) {
		execl("no_such_program", "no_such_program", NULL);
		execl(argv[0], argv[0], "loop", argv[2], NULL);
		error("exec: %s", strerror(errno));
	} else if (strcmp(what, "fork") == 0) {
		if ((pid = fork()) == 0) {
			loop(turns);
			_exit(0);
		}
		CHECK(pid != -1 && waitpid(pid, NULL, 0) == pid);
	} else if (strcmp(what, "threads") == 0) {
		CHECK(
		    thr_create(NULL, 0, thread, &turns, THR_BOUND, &tid) == 0);
		CHECK(thr_join(tid, NULL, NULL) == 0);
	} else
		error("what is '%s'?", what);
	return 0;
}
