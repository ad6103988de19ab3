/* Acts that make processes and wait for them. */
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Wait for a child.  Another LWP may have waited for it first: ECHILD. */
static void
wait_for_child(pid_t pid)
{
	static const int options[] = { 0, 0, WUNTRACED, WCONTINUED,
		(int)0x40000000 /* __WALL */, 0x20000000 /* __WNOTHREAD */ };
	siginfo_t si;
	int status = 0;
	pid_t got;

	if (chaos_one_in(4)) {
		do {
			memset(&si, 0, sizeof si);
			got = waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT);
		} while (got == -1 && errno == EINTR);
		CHAOS_EXPECT(got == 0 ? si.si_pid == pid : errno == ECHILD);
	}
	do {
		got = waitpid(pid, &status, options[chaos_below(6)]);
	} while (got == -1 && errno == EINTR);
	if (got == pid)
		CHAOS_EXPECT(chaos_end_allowed(status));
	else
		CHAOS_EXPECT(got == -1 && errno == ECHILD);
}

/* A child has a copy of its parent's memory, and its writes stay its own. */
void
chaos_act_fork(void)
{
	volatile uint64_t mine[4];
	uint64_t value = chaos_below(UINT64_MAX);
	pid_t pid;

	for (unsigned i = 0; i < 4; i++)
		mine[i] = value + i;
	if ((pid = fork()) == 0) {
		for (unsigned i = 0; i < 4; i++) {
			CHAOS_EXPECT(mine[i] == value + i);
			mine[i] = 0;
		}
		CHAOS_EXPECT(getpid() == (pid_t)syscall(SYS_gettid));
		chaos_copy();
		if (chaos_one_in(4))
			syscall(SYS_exit, 0);
		_exit(0);
	}
	if (pid < 0)
		CHAOS_EXPECT(errno == ENOMEM || errno == EAGAIN);
	else if (!chaos_one_in(8)) /* some are never waited for */
		wait_for_child(pid);
	for (unsigned i = 0; i < 4; i++)
		CHAOS_EXPECT(mine[i] == value + i);
}

static long
control(int op, pid_t pid, hrtime_t a, struct barecpc_control_event *ev)
{
	return syscall(BARECPC_SYS_CONTROL, (long)op, (long)pid, a, ev);
}

/* The child's own child is controlled, too, and must be released. */
static void
see_events(pid_t pid, uint64_t n)
{
	struct barecpc_control_event ev;

	for (; n > 0; n--) {
		if (control(BARECPC_CONTROL_WAIT, pid,
			gethrtime() + (hrtime_t)chaos_below(1000000),
			&ev) == -1)
			CHAOS_EXPECT(errno == EINTR || errno == ESRCH);
		else if (ev.be_what == BARECPC_EVENT_FORK &&
			 control(BARECPC_CONTROL_RELEASE, (pid_t)ev.be_arg, 0,
			     NULL) == -1)
			CHAOS_EXPECT(errno == ESRCH);
	}
}

/* Control a child and release it; it may be gone (ECHILD, ESRCH). */
void
chaos_act_control(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		chaos_copy();
		_exit(0);
	}
	if (pid < 0) {
		CHAOS_EXPECT(errno == ENOMEM || errno == EAGAIN);
		return;
	}
	if (control(BARECPC_CONTROL_CAPTURE, pid, 0, NULL) == -1) {
		CHAOS_EXPECT(
		    errno == EINTR || errno == ECHILD || errno == ESRCH);
	} else {
		see_events(pid, chaos_below(4));
		if (control(BARECPC_CONTROL_RELEASE, pid, 0, NULL) == -1)
			CHAOS_EXPECT(errno == ESRCH);
	}
	wait_for_child(pid);
}

/* Execute another program, by posix_spawn(3), vfork(2) or fork(2). */
void
chaos_act_spawn(void)
{
	struct chaos_exec ce;
	pid_t pid = -1;
	int err;

	if (chaos.ch_depth > 1)
		return;
	chaos_describe(&ce, chaos_below(UINT64_MAX));
	if (chaos_one_in(2)) {
		err = posix_spawn(
		    &pid, CHAOS_PROGRAM, NULL, NULL, ce.chx_argv, ce.chx_env);
		if (err != 0) {
			CHAOS_EXPECT(err == ENOMEM || err == EAGAIN);
			return;
		}
	} else {
		pid = chaos_one_in(2) ? vfork() : fork();
		if (pid == 0) {
			execve(chaos_one_in(8) ? "nonesuch" : CHAOS_PROGRAM,
			    ce.chx_argv, ce.chx_env);
			_exit(0);
		}
	}
	if (pid > 0)
		wait_for_child(pid);
}

/* Wait for any child.  Other LWPs may wait for it, too. */
void
chaos_act_wait_any(void)
{
	int status = 0;
	pid_t pid = waitpid(-1, &status, WNOHANG);

	if (pid > 0)
		CHAOS_EXPECT(chaos_end_allowed(status));
	else
		CHAOS_EXPECT(pid == 0 || errno == ECHILD);
}

/* Wrong numbers and addresses, whose errors are known. */
void
chaos_act_hostile(void)
{
	static const uintptr_t bad[] = { 8, 0xffff800000000000, UINTPTR_MAX - 7,
		0x7ffffffff000, 0x800000000000 };
	uintptr_t p = bad[chaos_below(5)];
	static const struct {
		long number;
		uintptr_t a[4];
	} calls[] = {
#define P 3 /* replaced by the bad pointer */
		{ SYS_pipe2, { P, 0, 0, 0 } },
		{ SYS_rt_sigaction, { SIGUSR1, 0, P, 8 } },
		{ SYS_rt_sigprocmask, { SIG_BLOCK, 0, P, 8 } },
		{ SYS_rt_sigpending, { P, 8, 0, 0 } },
		{ SYS_rt_sigsuspend, { P, 8, 0, 0 } },
		{ SYS_rt_sigtimedwait, { P, 0, 0, 8 } },
		{ SYS_nanosleep, { P, 0, 0, 0 } },
		{ SYS_setitimer, { 0, P, 0, 0 } },
		{ SYS_execve, { P, 0, 0, 0 } },
		{ SYS_getrandom, { P, 64, 0, 0 } },
		{ SYS_sched_setaffinity, { 0, 8, P, 0 } },
		{ SYS_ppoll, { P, 1, 0, 0 } },
		{ SYS_openat, { (uintptr_t)-100, P, 0, 0 } },
	};
	unsigned n = (unsigned)chaos_below(sizeof calls / sizeof *calls);
	uintptr_t a[4];

	for (unsigned i = 0; i < 4; i++)
		a[i] = calls[n].a[i] == P ? p : calls[n].a[i];
	CHAOS_EXPECT(syscall(calls[n].number, a[0], a[1], a[2], a[3]) == -1);
	CHAOS_EXPECT(errno == EFAULT || errno == ENOMEM || errno == EMFILE);
}
