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

	turn_raw(SYS_setitimer, ITIMER_REAL, (uintptr_t)&none, 0, 0, 0);
}

static void
unbind_lwp(long r)
{
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
	kill(child, SIGKILL);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
}

static void
lock_buffer(void)
{
	EXPECT_EQ(mlock(turn_buffer, 64), 0);
}

static void
unlock_buffer(long r)
{
	EXPECT_EQ(munlock(turn_buffer, 64), 0);
}

#define SOCKET(name, number, err)                                              \
	TURN_CALL(name, number, ((uintptr_t)-1), .tc_errno = (err))

const struct turn_call turn_machine[] = {
	TURN_CALL("getpid", SYS_getpid, (0)),
	TURN_CALL("getppid", SYS_getppid, (0)),
	TURN_CALL("gettid", SYS_gettid, (0)),
	TURN_CALL("setresuid", SYS_setresuid, (0, 0, 0)),
	TURN_CALL("setresgid", SYS_setresgid, (0, 0, 0)),
	TURN_CALL("getresuid", SYS_getresuid, (TURN_P, TURN_P, TURN_P)),
	TURN_CALL("getresgid", SYS_getresgid, (TURN_P, TURN_P, TURN_P)),
	TURN_CALL("getgroups", SYS_getgroups, (0, 0)),
	TURN_CALL("getuid", SYS_getuid, (0)),
	TURN_CALL("geteuid", SYS_geteuid, (0)),
	TURN_CALL("getgid", SYS_getgid, (0)),
	TURN_CALL("getegid", SYS_getegid, (0)),
	TURN_CALL("capget", SYS_capget, ((uintptr_t)capabilities, TURN_P)),
	TURN_CALL("uname", SYS_uname, (TURN_P)),
	TURN_CALL("sysinfo", SYS_sysinfo, (TURN_P)),
	TURN_CALL("getrandom", SYS_getrandom, (TURN_P, 64, 0)),
	TURN_CALL("prlimit64", SYS_prlimit64, (SELF, RLIMIT_STACK, 0, TURN_P)),
	TURN_CALL("getrlimit", SYS_getrlimit, (RLIMIT_STACK, TURN_P)),
	TURN_CALL("getrusage", SYS_getrusage, (RUSAGE_SELF, TURN_P)),
	TURN_CALL("times", SYS_times, (TURN_P)),
	TURN_CALL("mlock", SYS_mlock, (TURN_P, 64), .tc_undo = unlock_buffer),
	TURN_CALL("msync", SYS_msync, (TURN_P, 64)),
	TURN_CALL("munlock", SYS_munlock, (TURN_P, 64),
	    .tc_prepare = lock_buffer, .tc_undo = unlock_buffer),
	TURN_CALL("mlockall", SYS_mlockall, (MCL_CURRENT)),
	TURN_CALL("munlockall", SYS_munlockall, (0)),
	TURN_CALL("sendfile", SYS_sendfile, (TURN_NULL, TURN_ZERO, 0, 8),
	    .tc_errno = ENOSYS),
	TURN_CALL("copy_file_range", SYS_copy_file_range,
	    (TURN_ZERO, 0, TURN_NULL, 0, 8), .tc_errno = ENOSYS),
	TURN_CALL("socket", SYS_socket, (1, 1, 0), .tc_errno = EAFNOSUPPORT),
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
	TURN_CALL("membarrier", SYS_membarrier, (0)),
	TURN_CALL(
	    "get_robust_list", SYS_get_robust_list, (0, TURN_P, TURN_P + 8)),
	TURN_CALL("set_robust_list", SYS_set_robust_list, (0, 24)),
	TURN_CALL("rseq", SYS_rseq, (TURN_P, 32, 0, 0), .tc_errno = ENOSYS),
	TURN_CALL("clone3", SYS_clone3, (TURN_P, 88), .tc_errno = ENOSYS),
	TURN_CALL(
	    "personality", SYS_personality, (0xffffffff), .tc_errno = ENOSYS),
	TURN_CALL("prctl", SYS_prctl, (1), .tc_errno = EINVAL),
	TURN_CALL(
	    "clock_gettime", SYS_clock_gettime, (CLOCK_MONOTONIC, TURN_P)),
	TURN_CALL("clock_getres", SYS_clock_getres, (CLOCK_MONOTONIC, TURN_P)),
	TURN_CALL("gettimeofday", SYS_gettimeofday, (TURN_P, 0)),
	TURN_CALL("nanosleep", SYS_nanosleep, ((uintptr_t)&moment, 0)),
	TURN_CALL("clock_nanosleep", SYS_clock_nanosleep,
	    (CLOCK_MONOTONIC, 0, (uintptr_t)&moment, 0)),
	TURN_CALL("getitimer", SYS_getitimer, (ITIMER_REAL, TURN_P)),
	TURN_CALL("setitimer", SYS_setitimer,
	    (ITIMER_REAL, (uintptr_t)&timer, TURN_P), .tc_undo = stop_timer),
	TURN_CALL("sched_yield", SYS_sched_yield, (0)),
	TURN_CALL(
	    "sched_getaffinity", SYS_sched_getaffinity, (SELF, 128, TURN_P)),
	TURN_CALL("sched_setaffinity", SYS_sched_setaffinity,
	    (SELF, sizeof cpus, (uintptr_t)cpus)),
	TURN_CALL("getcpu", SYS_getcpu, (TURN_P, TURN_P + 8, 0)),
	TURN_MADE("futex", SYS_futex, NULL, wake_no_waiter, NULL),
	TURN_MADE("futex waits", SYS_futex, NULL, wait_for_futex, NULL,
	    .tc_errno = ETIMEDOUT),
	TURN_CALL("phys", BARECPC_SYS_PHYS, (TURN_P)),
	TURN_CALL("stat", BARECPC_SYS_STAT, (TURN_P)),
	TURN_CALL("interrupts", BARECPC_SYS_INTERRUPTS, (TURN_P)),
	TURN_CALL("screen", BARECPC_SYS_SCREEN, (0), .tc_errno = ENODEV),
	TURN_CALL("progress", BARECPC_SYS_PROGRESS, (1, 2)),
	TURN_CALL("quiet", BARECPC_SYS_QUIET, (0), .tc_errno = EPERM),
	TURN_CALL("witness", BARECPC_SYS_WITNESS, (TURN_P), .tc_errno = ENODEV),
	TURN_CALL("control", BARECPC_SYS_CONTROL,
	    (BARECPC_CONTROL_ARGS, 0, 0, 0, 0), .tc_errno = ESRCH),
	TURN_MADE("control: capture", BARECPC_SYS_CONTROL, child_sleeps,
	    capture_child, end_child),
	TURN_CALL("processor_bind", BARECPC_SYS_SCHED,
	    (BARECPC_SCHED_BIND, 8, (uintptr_t)-1, 0, 0),
	    .tc_undo = unbind_lwp),
	TURN_CALL("p_online", BARECPC_SYS_SCHED, (BARECPC_SCHED_ONLINE, 0, 3)),
	{ 0 },
};
