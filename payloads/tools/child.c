/* Runs another program until its end, with a time limit, or until Ctrl-C. */
#include "payloads/tools/child.h"

#include <errno.h>
#include <fcntl.h>
#include <payload.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "payloads/common/usage.h"

#define TIMEOUT_MIN 10 /* as in perf stat */
#define TIMEOUT_MAX 1000000000
#define LOOK_MS     200 /* from one look for Ctrl-C to the next */
#define KEYS_MAX    64

const struct option child_options[] = {
	{ "timeout", required_argument, NULL, CHILD_TIMEOUT },
	{ NULL, 0, NULL, 0 },
};

static volatile pid_t child;
static volatile sig_atomic_t ended;
static volatile int64_t deadline_ns; /* or 0 */
static struct child_keys *volatile keys;

static int64_t
clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

unsigned
child_timeout(const char *text)
{
	return (unsigned)usage_number(
	    "--timeout", text, TIMEOUT_MIN, TIMEOUT_MAX, " ms");
}

bool
child_interrupt_came(void)
{
	static const long ctrl_c = 3;
	long key = 1;

	for (unsigned i = 0; i < KEYS_MAX && key > 0; i++) {
		key = syscall(BARECPC_SYS_SCREEN, BARECPC_SCREEN_KEY);
		if (key == 1 + ctrl_c)
			return true;
	}
	return false;
}

/*
 * The program exists until waitpid() has reported its end.  It may send
 * SIGALRM, too, so only the clock says that the time is up.
 */
static void
look(int)
{
	if (ended || (keys != NULL && keys->ck_came))
		return;
	if (keys != NULL) {
		keys->ck_looks++;
		keys->ck_came = child_interrupt_came();
	}
	ended = deadline_ns != 0 && clock_ns() >= deadline_ns;
	if (ended || (keys != NULL && keys->ck_came))
		kill(child, SIGKILL);
}

static struct timeval
time_of(unsigned ms)
{
	return (struct timeval){ ms / 1000, ms % 1000 * 1000 };
}

int
child_wait(pid_t pid, const char *name, unsigned ms, struct child_keys *ck)
{
	unsigned step = ck != NULL ? LOOK_MS : ms;
	struct itimerval it = { 0 };
	siginfo_t si;
	int status;

	child = pid;
	ended = 0;
	if (ck != NULL)
		*ck = (struct child_keys){ 0 };
	keys = ck;
	deadline_ns = ms != 0 ? clock_ns() + (int64_t)ms * 1000000 : 0;
	if (step != 0) {
		/* The last of these steps ends after ms. */
		it.it_interval = time_of(step);
		it.it_value = time_of(ms % step != 0 ? ms % step : step);
		signal(SIGALRM, look);
		setitimer(ITIMER_REAL, &it, NULL);
	}
	/* WNOWAIT keeps the pid in use until the timer is off. */
	while (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT) == -1) {
		if (errno != EINTR)
			fail(1, "%s", strerror(errno));
	}
	if (step != 0) {
		it = (struct itimerval){ 0 };
		setitimer(ITIMER_REAL, &it, NULL);
	}
	if (waitpid(pid, &status, 0) == -1)
		fail(1, "%s", strerror(errno));
	/* The timer may have fired after the program had ended by itself. */
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		ended = 0;
	else if (ck != NULL)
		ck->ck_cut = ck->ck_came;
	if (ended)
		fprintf(stderr, "%s: %s: ended after %u ms (--timeout)\n",
		    usage_name(), name, ms);
	else if (ck != NULL && ck->ck_cut)
		fprintf(
		    stderr, "%s: %s: ended by Ctrl-C\n", usage_name(), name);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void
child_input(void)
{
	int fd = open("/.stdin", O_RDONLY);

	if (fd != -1) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

void
child_exec(char **program)
{
	const char *path = program[0], *slash = strrchr(path, '/');

	program[0] += slash != NULL ? slash + 1 - path : 0;
	execv(path, program);
	program[0] -= slash != NULL ? slash + 1 - path : 0;
}
