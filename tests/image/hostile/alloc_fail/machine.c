/* Calls on the machine, the process and time, and barecpc's own calls. */
#include "tests/image/hostile/alloc_fail/turns.h"

#include <errno.h>
#include <payload.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/image/test.h"

#define SELF 0

static struct timespec moment = { 0, 1000 };
static struct itimerval timer = { { 0, 0 }, { 100, 0 } };
static uintptr_t cpus[16] = { 1 };
static uint32_t capabilities[2] = { 0x20080522, 0 }; /* version 3, self */

static void
stop_timer(long r)
{
	static struct itimerval none;

	(void)r;
	turn_raw(SYS_setitimer, ITIMER_REAL, (uintptr_t)&none, 0, 0, 0);
}

static void
unbind_lwp(long r)
{
	(void)r;
	EXPECT_EQ(turn_raw(BARECPC_SYS_SCHED, BARECPC_SCHED_BIND, 8,
		      (uintptr_t)-1, (uintptr_t)-1, 0),
	    0);
}

static long
wake_no_waiter(void)
{
	return turn_raw(SYS_futex, TURN_P, 1, 1, 0, 0); /* FUTEX_WAKE */
}

static long
wait_for_futex(void)
{
	*(volatile uint32_t *)turn_buffer = 7;
	return turn_raw(
	    SYS_futex, TURN_P, 0, 7, (uintptr_t)&moment, 0); /* FUTEX_WAIT */
}

static pid_t child;

static void
child_sleeps(void)
{
	if ((child = fork()) == 0) {
		for (;;)
			pause();
	}
}

static long
capture_child(void)
{
	return turn_raw(BARECPC_SYS_CONTROL, BARECPC_CONTROL_CAPTURE,
	    (uintptr_t)child, 0, 0, 0);
}

static void
end_child(long r)
{
	(void)r;
	kill(child, SIGKILL);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
}

#define SOCKET(name, number, err)                                              \
	{                                                                      \
		.tc_name = name, .tc_number = number,                          \
		.tc_args = { (uintptr_t)-1, 0, 0, 0, 0 }, .tc_errno = err      \
	}

const struct turn_call turn_machine[] = {
	{ .tc_name = "getpid", SYS_getpid, { 0 } },
	{ .tc_name = "getppid", SYS_getppid, { 0 } },
	{ .tc_name = "gettid", SYS_gettid, { 0 } },
	{ .tc_name = "getuid", SYS_getuid, { 0 } },
	{ .tc_name = "geteuid", SYS_geteuid, { 0 } },
	{ .tc_name = "getgid", SYS_getgid, { 0 } },
	{ .tc_name = "getegid", SYS_getegid, { 0 } },
	{ .tc_name = "capget",
	    SYS_capget,
	    { (uintptr_t)capabilities, TURN_P } },
	{ .tc_name = "uname", SYS_uname, { TURN_P } },
	{ .tc_name = "sysinfo", SYS_sysinfo, { TURN_P } },
	{ .tc_name = "getrandom", SYS_getrandom, { TURN_P, 64, 0 } },
	{ .tc_name = "prlimit64",
	    SYS_prlimit64,
	    { SELF, RLIMIT_STACK, 0, TURN_P } },
	{ .tc_name = "getrlimit", SYS_getrlimit, { RLIMIT_STACK, TURN_P } },
	{ .tc_name = "getrusage", SYS_getrusage, { RUSAGE_SELF, TURN_P } },
	{ .tc_name = "times", SYS_times, { TURN_P } },
	{ .tc_name = "mlock", SYS_mlock, { TURN_P, 64 } },
	{ .tc_name = "munlock", SYS_munlock, { TURN_P, 64 } },
	{ .tc_name = "mlockall", SYS_mlockall, { MCL_CURRENT } },
	{ .tc_name = "munlockall", SYS_munlockall, { 0 } },
	{ .tc_name = "sendfile",
	    SYS_sendfile,
	    { TURN_NULL, TURN_ZERO, 0, 8 },
	    .tc_errno = ENOSYS },
	{ .tc_name = "copy_file_range",
	    SYS_copy_file_range,
	    { TURN_ZERO, 0, TURN_NULL, 0, 8 },
	    .tc_errno = ENOSYS },
	{ .tc_name = "socket",
	    SYS_socket,
	    { 1, 1, 0 },
	    .tc_errno = EAFNOSUPPORT },
	SOCKET("socketpair", SYS_socketpair, EAFNOSUPPORT),
	SOCKET("connect", SYS_connect, EBADF),
	SOCKET("accept", SYS_accept, EBADF),
	SOCKET("accept4", SYS_accept4, EBADF),
	SOCKET("sendto", SYS_sendto, EBADF),
	SOCKET("recvfrom", SYS_recvfrom, EBADF),
	SOCKET("sendmsg", SYS_sendmsg, EBADF),
	SOCKET("recvmsg", SYS_recvmsg, EBADF),
	SOCKET("shutdown", SYS_shutdown, EBADF),
	SOCKET("bind", SYS_bind, EBADF),
	SOCKET("listen", SYS_listen, EBADF),
	SOCKET("getsockname", SYS_getsockname, EBADF),
	SOCKET("getpeername", SYS_getpeername, EBADF),
	SOCKET("setsockopt", SYS_setsockopt, EBADF),
	SOCKET("getsockopt", SYS_getsockopt, EBADF),
	{ .tc_name = "membarrier", SYS_membarrier, { 0 } },
	{ .tc_name = "get_robust_list",
	    SYS_get_robust_list,
	    { 0, TURN_P, TURN_P + 8 } },
	{ .tc_name = "set_robust_list", SYS_set_robust_list, { 0, 24 } },
	{ .tc_name = "rseq",
	    SYS_rseq,
	    { TURN_P, 32, 0, 0 },
	    .tc_errno = ENOSYS },
	{ .tc_name = "clone3", SYS_clone3, { TURN_P, 88 }, .tc_errno = ENOSYS },
	{ .tc_name = "personality",
	    SYS_personality,
	    { 0xffffffff },
	    .tc_errno = ENOSYS },
	{ .tc_name = "prctl", SYS_prctl, { 1 }, .tc_errno = EINVAL },
	{ .tc_name = "clock_gettime",
	    SYS_clock_gettime,
	    { CLOCK_MONOTONIC, TURN_P } },
	{ .tc_name = "clock_getres",
	    SYS_clock_getres,
	    { CLOCK_MONOTONIC, TURN_P } },
	{ .tc_name = "gettimeofday", SYS_gettimeofday, { TURN_P, 0 } },
	{ .tc_name = "nanosleep", SYS_nanosleep, { (uintptr_t)&moment, 0 } },
	{ .tc_name = "clock_nanosleep",
	    SYS_clock_nanosleep,
	    { CLOCK_MONOTONIC, 0, (uintptr_t)&moment, 0 } },
	{ .tc_name = "getitimer", SYS_getitimer, { ITIMER_REAL, TURN_P } },
	{ .tc_name = "setitimer",
	    SYS_setitimer,
	    { ITIMER_REAL, (uintptr_t)&timer, TURN_P },
	    .tc_undo = stop_timer },
	{ .tc_name = "sched_yield", SYS_sched_yield, { 0 } },
	{ .tc_name = "sched_getaffinity",
	    SYS_sched_getaffinity,
	    { SELF, 128, TURN_P } },
	{ .tc_name = "sched_setaffinity",
	    SYS_sched_setaffinity,
	    { SELF, sizeof cpus, (uintptr_t)cpus } },
	{ .tc_name = "getcpu", SYS_getcpu, { TURN_P, TURN_P + 8, 0 } },
	{ .tc_name = "futex", SYS_futex, { 0 }, .tc_make = wake_no_waiter },
	{ .tc_name = "futex waits",
	    SYS_futex,
	    { 0 },
	    .tc_make = wait_for_futex,
	    .tc_errno = ETIMEDOUT },
	{ .tc_name = "phys", BARECPC_SYS_PHYS, { TURN_P } },
	{ .tc_name = "stat", BARECPC_SYS_STAT, { TURN_P } },
	{ .tc_name = "interrupts", BARECPC_SYS_INTERRUPTS, { TURN_P } },
	{ .tc_name = "screen", BARECPC_SYS_SCREEN, { 0 }, .tc_errno = ENODEV },
	{ .tc_name = "progress", BARECPC_SYS_PROGRESS, { 1, 2 } },
	{ .tc_name = "quiet", BARECPC_SYS_QUIET, { 0 }, .tc_errno = EPERM },
	{ .tc_name = "witness",
	    BARECPC_SYS_WITNESS,
	    { TURN_P },
	    .tc_errno = ENODEV },
	{ .tc_name = "control",
	    BARECPC_SYS_CONTROL,
	    { BARECPC_CONTROL_ARGS, 0, 0, 0, 0 },
	    .tc_errno = ESRCH },
	{ .tc_name = "control: capture",
	    BARECPC_SYS_CONTROL,
	    { 0 },
	    .tc_prepare = child_sleeps,
	    .tc_make = capture_child,
	    .tc_undo = end_child },
	{ .tc_name = "processor_bind",
	    BARECPC_SYS_SCHED,
	    { BARECPC_SCHED_BIND, 8, (uintptr_t)-1, 0, 0 },
	    .tc_undo = unbind_lwp },
	{ .tc_name = "p_online",
	    BARECPC_SYS_SCHED,
	    { BARECPC_SCHED_ONLINE, 0, 3 } },
	{ 0 },
};
