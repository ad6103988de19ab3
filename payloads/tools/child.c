/*
 * Runs another program and waits for its end, with a time limit.
 */
#include "payloads/tools/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "payloads/common/usage.h"

#define TIMEOUT_MIN 10 /* as in perf stat */
#define TIMEOUT_MAX 1000000000

const struct option child_options[] = {
	{ "timeout", required_argument, NULL, CHILD_TIMEOUT },
	{ NULL, 0, NULL, 0 },
};

static volatile pid_t child;
static volatile sig_atomic_t ended;

unsigned
child_timeout(const char *text)
{
	return (unsigned)usage_number(
	    "--timeout", text, TIMEOUT_MIN, TIMEOUT_MAX, " ms");
}

/* The program exists until waitpid() has reported its end. */
static void
time_is_up(int sig)
{
	(void)sig;
	ended = 1;
	kill(child, SIGKILL);
}

static void
set_timer(unsigned ms)
{
	struct itimerval it = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	setitimer(ITIMER_REAL, &it, NULL);
}

int
child_wait(pid_t pid, const char *name, unsigned ms)
{
	siginfo_t si;
	int status;

	child = pid;
	ended = 0;
	if (ms != 0) {
		signal(SIGALRM, time_is_up);
		set_timer(ms);
	}
	/* WNOWAIT keeps the pid in use until the timer is off. */
	while (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT) == -1) {
		if (errno != EINTR)
			fail(1, "%s", strerror(errno));
	}
	if (ms != 0)
		set_timer(0);
	if (waitpid(pid, &status, 0) == -1)
		fail(1, "%s", strerror(errno));
	/* The timer may have fired after the program had ended by itself. */
	if (ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		fprintf(stderr, "%s: %s: ended after %u ms (--timeout)\n",
		    usage_name(), name, ms);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
