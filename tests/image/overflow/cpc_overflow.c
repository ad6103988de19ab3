/*
 * An overflow of a notify request freezes the set and sends one SIGEMT to the
 * LWP.  The handler sees the frozen counts, and a restart begins the next
 * period.
 *
 * The counted loop retires two instructions an iteration.  With a preset of
 * 2^64 - N, N events overflow.
 */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PERIOD 1000

/* Pages of the C library's heap. */
TEST_KEEPS(16);

static cpc_t *the_cpc;
static cpc_set_t *the_set;
static cpc_buf_t *the_buf;
static volatile int handler_calls, handler_code, restarts_left;
static volatile uintptr_t handler_addr, handler_pc;
static volatile uint64_t handler_counts[2];

static void
restarting_handler(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	handler_calls++;
	handler_code = si->si_code;
	handler_addr = (uintptr_t)si->si_addr;
	handler_pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	for (int i = 0; i < 2; i++) {
		uint64_t v = 0;

		EXPECT_EQ(cpc_set_sample(the_cpc, the_set, the_buf), 0);
		cpc_buf_get(the_cpc, the_buf, 0, &v);
		handler_counts[i] = v;
	}
	if (restarts_left-- > 0)
		EXPECT_EQ(cpc_set_restart(the_cpc, the_set), 0);
}

static bool
bind_overflowing(cpc_t *cpc)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	/* At system privilege the signal's delivery would be counted. */
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0 ||
	    payload_privilege() == PAYLOAD_SYSTEM)
		return false;
	sa.sa_sigaction = restarting_handler;
	sigaction(SIGEMT, &sa, NULL);
	handler_calls = 0;
	the_cpc = cpc;
	the_set = cpc_set_create(cpc);
	EXPECT(cpc_set_add_request(cpc, the_set, "PAPI_tot_ins",
		   UINT64_MAX - (PERIOD - 1),
		   own_privilege() | CPC_OVF_NOTIFY_EMT, 0, NULL) == 0);
	the_buf = cpc_buf_create(cpc, the_set);
	return cpc_bind_curlwp(cpc, the_set, 0) == 0;
}

/* CPC-OVF-01, CPC-OVF-02, CPC-OVF-03, CPC-OVF-04, CPC-OVF-05 */
CPC_TEST(an_overflow_signals_once_and_freezes)
{
	NEEDS_EXACT_OVERFLOW();
	restarts_left = 0;
	if (!bind_overflowing(cpc))
		SKIP("overflows of user code do not interrupt here");
	spin_loop(10 * PERIOD);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(handler_code, EMT_CPCOVF);
	EXPECT_EQ(handler_addr, handler_pc);
	EXPECT(handler_pc - (uintptr_t)spin_loop < 64);
	EXPECT(handler_counts[0] < 64);
	EXPECT_EQ(handler_counts[0], handler_counts[1]);
	spin_loop(10 * PERIOD);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
}

/* CPC-OVF-01 on each CPU. */
CPC_TEST(each_cpu_takes_the_interrupt)
{
	cpu_set_t all, one;

	NEEDS_INSTRUCTIONS();
	sched_getaffinity(0, sizeof all, &all);
	restarts_left = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
		if (!bind_overflowing(cpc))
			SKIP("overflows of user code do not interrupt here");
		spin_loop(10 * PERIOD);
		EXPECT_EQ(handler_calls, 1);
		EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	}
	EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

/* CPC-OVF-06 */
CPC_TEST(a_restart_in_the_handler_continues)
{
	NEEDS_INSTRUCTIONS();
	restarts_left = 1000000;
	if (!bind_overflowing(cpc))
		SKIP("overflows of user code do not interrupt here");
	spin_loop(50 * PERIOD); /* 100 periods */
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	/* After the restart, the rest of the handler is counted, too. */
	EXPECT(handler_calls >= 100);
	test_note("%d signals in 100 periods", handler_calls);
}

static sigjmp_buf away;

static void
leave_by_siglongjmp(int sig)
{
	siglongjmp(away, 1);
}

/* Sample, and leave by the handler after so many instructions, or earlier. */
static void
sample_and_leave(cpc_t *cpc, uint64_t after)
{
	if (sigsetjmp(away, 1) != 0)
		return;
	EXPECT_EQ(cpc_request_preset(cpc, 0, -after), 0);
	EXPECT_EQ(cpc_set_restart(cpc, the_set), 0);
	cpc_set_sample(cpc, the_set, the_buf);
	cpc_disable(cpc);
}

/* CPC-OVF-19: a sample that is left, anywhere, leaves the buffer as it was. */
CPC_TEST(a_sample_that_is_left_keeps_the_buffer)
{
	uint64_t before = 0, after = 0, tick, torn = 0;

	NEEDS_EXACT_OVERFLOW();
	if (!bind_overflowing(cpc))
		SKIP("overflows of user code do not interrupt here");
	signal(SIGEMT, leave_by_siglongjmp);
	for (int round = 0; round < 2; round++) {
		for (uint64_t n = 1; n < 200; n++) {
			cpc_buf_get(cpc, the_buf, 0, &before);
			tick = cpc_buf_tick(cpc, the_buf);
			sample_and_leave(cpc, n);
			cpc_buf_get(cpc, the_buf, 0, &after);
			torn += after != before &&
			        cpc_buf_tick(cpc, the_buf) == tick;
		}
	}
	EXPECT_EQ(torn, 0);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
}

/* CPC-OVF-12 */
CPC_TEST(a_blocked_signal_waits)
{
	sigset_t set;

	NEEDS_INSTRUCTIONS();
	restarts_left = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGEMT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!bind_overflowing(cpc)) {
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		SKIP("overflows of user code do not interrupt here");
	}
	spin_loop(10 * PERIOD);
	EXPECT_EQ(handler_calls, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
}

/* CPC-OVF-13 */
CPC_TEST(an_ignored_signal_still_freezes)
{
	uint64_t v = 0;

	NEEDS_INSTRUCTIONS();
	restarts_left = 0;
	if (!bind_overflowing(cpc))
		SKIP("overflows of user code do not interrupt here");
	signal(SIGEMT, SIG_IGN);
	spin_loop(10 * PERIOD);
	EXPECT_EQ(handler_calls, 0);
	EXPECT_EQ(cpc_set_sample(cpc, the_set, the_buf), 0);
	cpc_buf_get(cpc, the_buf, 0, &v);
	EXPECT(v < 64);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	signal(SIGEMT, SIG_DFL);
}

/* A set that overflows after n events of the kernel. */
static void
bind_in_kernel(cpc_t *cpc, uint64_t n)
{
	the_set = cpc_set_create(cpc);
	EXPECT(cpc_set_add_request(cpc, the_set, "PAPI_tot_ins", 0 - n,
		   CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT, 0, NULL) == 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, 0), 0);
}

/* CPC-OVF-12: an ignored or blocked SIGEMT ends no sleep, at any place. */
CPC_TEST(a_blocked_signal_ends_no_sleep)
{
	struct timespec soon = { .tv_nsec = 100000 };
	sigset_t emt, pending;
	int overflows = 0;

	NEEDS_INSTRUCTIONS();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows of user code do not interrupt here");
	sigemptyset(&emt);
	sigaddset(&emt, SIGEMT);
	signal(SIGEMT, SIG_IGN);
	for (int blocked = 0; blocked < 2; blocked++) {
		for (uint64_t n = 100; n < 2000; n += 7) {
			bind_in_kernel(cpc, n);
			EXPECT_EQ(nanosleep(&soon, NULL), 0);
			cpc_set_destroy(cpc, the_set);
			sigpending(&pending);
			overflows += sigismember(&pending, SIGEMT);
			EXPECT_EQ(sigismember(&pending, SIGEMT) & ~blocked, 0);
		}
		sigprocmask(SIG_BLOCK, &emt, NULL);
	}
	EXPECT(overflows != 0);
	signal(SIGEMT, SIG_IGN); /* discards the pending SIGEMT */
	sigprocmask(SIG_UNBLOCK, &emt, NULL);
	signal(SIGEMT, SIG_DFL);
}

static volatile bool take_now, taker_ends;

/* On request, take the counters once, by a set bound to the CPU. */
static void *
take_on_request(void *arg)
{
	cpc_set_t *set = set_of(arg, INS_EVENT);

	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 0, NULL), 0);
	while (!taker_ends) {
		if (take_now) {
			EXPECT_EQ(cpc_bind_cpu(arg, 0, set, 0), 0);
			EXPECT_EQ(cpc_unbind(arg, set), 0);
			take_now = false;
		}
		sched_yield();
	}
	return NULL;
}

static void
count_signal(int sig)
{
	handler_calls++;
}

/*
 * CPC-INV-04: the counters are taken away between an overflow on the way to
 * sleep and the end of the sleep.  A sleep that ends early has received a
 * SIGEMT.
 */
CPC_TEST(taken_counters_end_no_sleep)
{
	struct timespec soon = { .tv_nsec = 100000 };
	pthread_t taker;

	NEEDS_INSTRUCTIONS();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows of user code do not interrupt here");
	signal(SIGEMT, count_signal);
	take_now = taker_ends = false;
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 0, NULL), 0);
	REQUIRE(pthread_create(&taker, NULL, take_on_request, cpc) == 0);
	for (uint64_t n = 100; n < 1500; n += 7) {
		handler_calls = 0;
		bind_in_kernel(cpc, n);
		take_now = true;
		EXPECT(nanosleep(&soon, NULL) == 0 || handler_calls > 0);
		while (take_now)
			sched_yield();
		cpc_set_destroy(cpc, the_set);
	}
	taker_ends = true;
	pthread_join(taker, NULL);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
	signal(SIGEMT, SIG_DFL);
}

#ifdef __x86_64__
static const unsigned char call_insn[] = { 0x0f, 0x05 }; /* SYSCALL */
#else
static const unsigned char call_insn[] = { 0x01, 0, 0, 0xd4 }; /* SVC #0 */
#endif

static volatile int restarted_calls;

static void
check_restarted_call(int sig, siginfo_t *si, void *context)
{
	const ucontext_t *uc = context;
	const void *at = (const void *)uc->uc_mcontext.gregs[REG_PC];

	if (memcmp(at, call_insn, sizeof call_insn) != 0)
		return;
	restarted_calls++;
	EXPECT_EQ((uintptr_t)si->si_addr, (uintptr_t)at);
}

/* CPC-OVF-02, CPC-OVF-18: a restarted call's PC is its instruction. */
CPC_TEST(the_pc_is_at_the_restarted_call)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };
	struct timespec soon = { .tv_nsec = 100000 };

	NEEDS_INSTRUCTIONS();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows of user code do not interrupt here");
	sa.sa_sigaction = check_restarted_call;
	sigaction(SIGEMT, &sa, NULL);
	restarted_calls = 0;
	for (uint64_t n = 100; n < 2000; n += 100) {
		pid_t child = fork();

		if (child == 0)
			_exit(nanosleep(&soon, NULL));
		bind_in_kernel(cpc, n);
		EXPECT_EQ(waitpid(child, NULL, 0), child);
		cpc_set_destroy(cpc, the_set);
	}
	EXPECT(restarted_calls != 0);
	signal(SIGEMT, SIG_DFL);
}
