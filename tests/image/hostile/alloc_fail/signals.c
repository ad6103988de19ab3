/* Calls on signals: without memory a queued signal is refused, no other. */
#include "tests/image/hostile/alloc_fail/turns.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/lib/image/test.h"

#define QUEUED (SIGRTMIN + 3)

static uint64_t mask_none, mask_queued;
static siginfo_t info;

/* There is room for one pending signal each: fill it. */
static void
fill_room(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	EXPECT_EQ(kill(getpid(), SIGUSR2), 0);
	EXPECT_EQ(raise(SIGUSR2), 0);
}

static void
empty_room(void)
{
	static const struct timespec none;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	EXPECT_EQ(sigtimedwait(&set, NULL, &none), SIGUSR2);
	EXPECT_EQ(sigtimedwait(&set, NULL, &none), SIGUSR2);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void
install_handler(int sig)
{
	signal(sig, test_note_signal);
	test_nsignal = 0;
}

static void
handle_usr1(void)
{
	install_handler(SIGUSR1);
	fill_room();
}

static void
expect_handled(long r)
{
	EXPECT_EQ(r, 0);
	EXPECT_EQ(test_nsignal, 1);
	signal(SIGUSR1, SIG_DFL);
	empty_room();
}

static long
make_kill(void)
{
	return turn_raw(SYS_kill, (uintptr_t)getpid(), SIGUSR1, 0, 0, 0);
}

static uintptr_t
own_tid(void)
{
	return (uintptr_t)turn_raw(SYS_gettid, 0, 0, 0, 0, 0);
}

static long
make_tkill(void)
{
	return turn_raw(SYS_tkill, own_tid(), SIGUSR1, 0, 0, 0);
}

static long
make_tgkill(void)
{
	return turn_raw(
	    SYS_tgkill, (uintptr_t)getpid(), own_tid(), SIGUSR1, 0, 0);
}

/* With its signal masked, it stays in the queue. */
static void
mask_queued_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, QUEUED);
	sigprocmask(SIG_BLOCK, &set, NULL);
	memset(&info, 0, sizeof info);
	info.si_code = SI_QUEUE;
	info.si_signo = QUEUED;
	fill_room();
}

static void
take_queued_signal(long r)
{
	static const struct timespec none;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, QUEUED);
	EXPECT_EQ(sigtimedwait(&set, NULL, &none), r == 0 ? QUEUED : -1);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	empty_room();
}

static long
make_queue(void)
{
	return turn_raw(SYS_rt_sigqueueinfo, (uintptr_t)getpid(), QUEUED,
	    (uintptr_t)&info, 0, 0);
}

static long
make_tgqueue(void)
{
	return turn_raw(SYS_rt_tgsigqueueinfo, (uintptr_t)getpid(), own_tid(),
	    QUEUED, (uintptr_t)&info, 0);
}

static void
queue_one(void)
{
	mask_queued_signal();
	EXPECT_EQ(make_queue(), 0);
}

static void
expect_taken(long r)
{
	take_queued_signal(r >= 0 ? -1 : 0);
}

static long
make_timedwait(void)
{
	mask_queued = 1ULL << (QUEUED - 1);
	return turn_raw(
	    SYS_rt_sigtimedwait, (uintptr_t)&mask_queued, TURN_P, 0, 8, 0);
}

void
turn_alarm_soon(void)
{
	struct itimerval soon = { { 0, 0 }, { 0, 2000 } };

	install_handler(SIGALRM);
	setitimer(ITIMER_REAL, &soon, NULL);
}

void
turn_no_alarm(long r)
{
	EXPECT_EQ(test_nsignal, 1);
	signal(SIGALRM, SIG_DFL);
}

static void
no_action(long r)
{
	EXPECT_EQ(r, 0);
	signal(SIGUSR2, SIG_DFL);
}

const struct turn_call turn_signals[] = {
	TURN_CALL("rt_sigaction", SYS_rt_sigaction, (SIGUSR2, 0, TURN_P, 8),
	    .tc_undo = no_action),
	TURN_CALL("rt_sigprocmask", SYS_rt_sigprocmask,
	    (SIG_BLOCK, (uintptr_t)&mask_none, TURN_P, 8)),
	TURN_CALL("rt_sigpending", SYS_rt_sigpending, (TURN_P, 8)),
	TURN_CALL("rt_sigsuspend", SYS_rt_sigsuspend,
	    ((uintptr_t)&mask_none, 8), .tc_prepare = turn_alarm_soon,
	    .tc_undo = turn_no_alarm, .tc_errno = EINTR),
	TURN_MADE("rt_sigtimedwait", SYS_rt_sigtimedwait, queue_one,
	    make_timedwait, expect_taken),
	TURN_MADE("kill", SYS_kill, handle_usr1, make_kill, expect_handled,
	    .tc_least = 1),
	/* The return from the signal makes this call. */
	TURN_MADE("rt_sigreturn", SYS_rt_sigreturn, handle_usr1, make_kill,
	    expect_handled, .tc_least = 1),
	TURN_MADE("tkill", SYS_tkill, handle_usr1, make_tkill, expect_handled,
	    .tc_least = 1),
	TURN_MADE("tgkill", SYS_tgkill, handle_usr1, make_tgkill,
	    expect_handled, .tc_least = 1),
	TURN_CALL("sigaltstack", SYS_sigaltstack, (0, TURN_P)),
	TURN_MADE("rt_sigqueueinfo", SYS_rt_sigqueueinfo, mask_queued_signal,
	    make_queue, take_queued_signal, .tc_least = 1),
	TURN_MADE("rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo,
	    mask_queued_signal, make_tgqueue, take_queued_signal,
	    .tc_least = 1),
	{ 0 },
};
