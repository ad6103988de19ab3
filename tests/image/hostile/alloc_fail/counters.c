/* Calls on counters, through libcpc, whose own memory is there before. */
#define _GNU_SOURCE /* clone() */
#include "tests/image/hostile/alloc_fail/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <payload.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/image/hostile/alloc_fail/turns.h"
#include "tests/lib/image/cpc_test.h"

#define MANY 40 /* requests: too many for the kernel's stack */

static cpc_t *the_cpc;
static cpc_set_t *set, *other_set, *many;
static uint64_t cycles[16] = { 128ULL << 32 }; /* struct perf_event_attr */

/* Another LWP has the one context that needs no allocation. */

static pthread_t other;
static sem_t asked, done;
static volatile enum { BIND, UNBIND, END } request;

static void *
other_lwp(void *arg)
{
	do {
		sem_wait(&asked);
		if (request == BIND)
			EXPECT_EQ(cpc_bind_curlwp(the_cpc, other_set, 0), 0);
		else if (request == UNBIND)
			EXPECT_EQ(cpc_unbind(the_cpc, other_set), 0);
		sem_post(&done);
	} while (request != END);
	return arg;
}

static void
ask_other(int w)
{
	request = w;
	sem_post(&asked);
	sem_wait(&done);
}

static void
other_binds(void)
{
	ask_other(BIND);
}

/*
 * Calls
 */

static long
errno_result(int r)
{
	return r == -1 ? -errno : r;
}

static long
make_page(void)
{
	long r = cpc_syscall(CPC_OP_PAGE, 0, 0, 0, 0);

	return r < 0 ? r : 0;
}

static long
make_bind(void)
{
	return errno_result(cpc_bind_curlwp(the_cpc, set, 0));
}

static void
unbind_set(long r)
{
	if (r == 0)
		EXPECT_EQ(cpc_unbind(the_cpc, set), 0);
}

static void
unbind_both(long r)
{
	unbind_set(r);
	ask_other(UNBIND);
}

static long
make_bind_many(void)
{
	return errno_result(cpc_bind_curlwp(the_cpc, many, 0));
}

static long
make_bind_cpu(void)
{
	return errno_result(cpc_bind_cpu(the_cpc, 0, set, 0));
}

/* A process that the test controls, while the one static context is taken. */
static pctx_t *controlled;
static pid_t child;

static void
control_child(void)
{
	ask_other(BIND);
	if ((child = fork()) == 0) {
		for (;;)
			pause();
	}
	EXPECT((controlled = pctx_capture(child, NULL, 0, NULL)) != NULL);
}

static long
make_bind_pctx(void)
{
	return errno_result(cpc_bind_pctx(the_cpc, controlled, 1, set, 0));
}

static void
end_control(long r)
{
	pctx_release(controlled);
	kill(child, SIGKILL);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
	ask_other(UNBIND);
}

static void
bind_inherit(void)
{
	EXPECT_EQ(cpc_bind_curlwp(the_cpc, set, CPC_BIND_LWP_INHERIT), 0);
}

static void
unbind_own(long r)
{
	turn_join(r);
	EXPECT_EQ(cpc_unbind(the_cpc, set), 0);
}

/* Start a profile.  It gets its memory when the process executes a program. */
static void
start_profile(void)
{
	int fd = open("/dev/profile", O_RDONLY);

	bind_inherit();
	EXPECT_EQ(cpc_syscall(CPC_OP_PROFILE, (uintptr_t)fd, 0, 0, 0), 0);
}

static long
make_disable(void)
{
	return cpc_syscall(CPC_OP_DISABLE, 0, 0, 0, 0);
}

static long
make_sample(void)
{
	return cpc_syscall(CPC_OP_SAMPLE, 1, TURN_P, 1, 0);
}

const struct turn_call turn_page[] = {
	TURN_MADE("counter page", BARECPC_SYS_CPC, NULL, make_page, NULL,
	    .tc_child = true, .tc_least = 3),
	{ 0 },
};

const struct turn_call turn_counters[] = {
	TURN_MADE("bind", BARECPC_SYS_CPC, NULL, make_bind, unbind_set),
	TURN_MADE("bind as the second", BARECPC_SYS_CPC, other_binds, make_bind,
	    unbind_both, .tc_least = 1),
	TURN_MADE("bind of many", BARECPC_SYS_CPC, NULL, make_bind_many, NULL,
	    .tc_errno = EINVAL, .tc_least = 1),
	TURN_MADE(
	    "bind to a CPU", BARECPC_SYS_CPC, NULL, make_bind_cpu, unbind_set),
	TURN_MADE("bind to an LWP of another process", BARECPC_SYS_CPC,
	    control_child, make_bind_pctx, end_control, .tc_least = 1),
	TURN_MADE(
	    "disable", BARECPC_SYS_CPC, bind_inherit, make_disable, unbind_own),
	TURN_MADE("sample", BARECPC_SYS_CPC, NULL, make_sample, NULL,
	    .tc_errno = EINVAL),
	TURN_MADE("clone of an LWP that inherits", SYS_clone, bind_inherit,
	    turn_make_thread, unbind_own, .tc_least = 5),
	TURN_CALL("perf_event_open", SYS_perf_event_open,
	    ((uintptr_t)cycles, 0, (uintptr_t)-1, (uintptr_t)-1, 0),
	    .tc_undo = turn_close, .tc_least = 3),
	TURN_MADE("execve of a profiled process", SYS_execve, start_profile,
	    turn_make_execve, NULL, .tc_exit = 1, .tc_child = true,
	    .tc_least = 20),
	{ 0 },
};

/*
 * Before and after
 */

static cpc_set_t *
set_of_many(void)
{
	cpc_set_t *s = set_of(the_cpc, ANY_EVENT);

	for (int i = 1; i < MANY; i++)
		add(the_cpc, s, ANY_EVENT);
	return s;
}

bool
counters_begin(void)
{
	if ((the_cpc = test_cpc_open()) == NULL)
		return false;
	set = set_of(the_cpc, ANY_EVENT);
	other_set = set_of(the_cpc, ANY_EVENT);
	many = set_of_many();
	sem_init(&asked, 0, 0);
	sem_init(&done, 0, 0);
	return true;
}

void
counters_warm(void)
{
	EXPECT_EQ(pthread_create(&other, NULL, other_lwp, NULL), 0);
	ask_other(BIND);
	ask_other(UNBIND);
	unbind_set(make_bind());
	control_child();
	end_control(make_bind_pctx());
}

void
counters_end(void)
{
	ask_other(END);
	pthread_join(other, NULL);
	cpc_close(the_cpc);
}
