/*
 * An overflow of a notify request freezes the set and sends SIGEMT to the
 * LWP, once; the handler sees the counts as they were, and a restart lets
 * the period begin anew.  The counted loop retires two instructions a pass,
 * and N of them overflow a preset of 2^64 - N.
 */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PERIOD 1000

/* The C library's heap keeps what it took. */
TEST_KEEPS(16);

static cpc_t *the_cpc;
static cpc_set_t *the_set;
static cpc_buf_t *the_buf;
static volatile int calls, code, restarts;
static volatile uintptr_t addr, pc;
static volatile uint64_t seen[2];

static void
handler(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	calls++;
	code = si->si_code;
	addr = (uintptr_t)si->si_addr;
	pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	for (int i = 0; i < 2; i++) {
		uint64_t v = 0;

		EXPECT_EQ(cpc_set_sample(the_cpc, the_set, the_buf), 0);
		cpc_buf_get(the_cpc, the_buf, 0, &v);
		seen[i] = v;
	}
	if (restarts-- > 0)
		EXPECT_EQ(cpc_set_restart(the_cpc, the_set), 0);
}

static bool
bind_overflowing(cpc_t *cpc)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	/* At system privilege the kernel's delivery would be counted, too. */
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0 ||
	    payload_privilege() == PAYLOAD_SYSTEM)
		return false;
	sa.sa_sigaction = handler;
	sigaction(SIGEMT, &sa, NULL);
	calls = 0;
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
	restarts = 0;
	if (!bind_overflowing(cpc))
		SKIP("overflows of user code do not interrupt here");
	spin_loop(10 * PERIOD);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(code, EMT_CPCOVF);
	EXPECT_EQ(addr, pc);
	EXPECT(pc - (uintptr_t)spin_loop < 64);
	EXPECT(seen[0] < 64);
	EXPECT_EQ(seen[0], seen[1]);
	spin_loop(10 * PERIOD);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
}

/* CPC-OVF-01 on every CPU the machine has. */
CPC_TEST(each_cpu_takes_the_interrupt)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof all, &all);
	restarts = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
		if (!bind_overflowing(cpc))
			SKIP("overflows of user code do not interrupt here");
		spin_loop(10 * PERIOD);
		EXPECT_EQ(calls, 1);
		EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	}
	EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

/* CPC-OVF-06 */
CPC_TEST(restarting_in_the_handler_goes_on)
{
	restarts = 1000000;
	if (!bind_overflowing(cpc))
		SKIP("overflows of user code do not interrupt here");
	spin_loop(50 * PERIOD); /* 100 periods */
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	/* Each period begins in the handler, whose tail is counted too. */
	EXPECT(calls >= 100);
	test_note("%d signals in 100 periods", calls);
}

/* CPC-OVF-12 */
CPC_TEST(blocked_it_waits)
{
	sigset_t set;

	restarts = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGEMT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!bind_overflowing(cpc)) {
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		SKIP("overflows of user code do not interrupt here");
	}
	spin_loop(10 * PERIOD);
	EXPECT_EQ(calls, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
}

/* CPC-OVF-13 */
CPC_TEST(ignored_it_freezes_all_the_same)
{
	uint64_t v = 0;

	restarts = 0;
	if (!bind_overflowing(cpc))
		SKIP("overflows of user code do not interrupt here");
	signal(SIGEMT, SIG_IGN);
	spin_loop(10 * PERIOD);
	EXPECT_EQ(calls, 0);
	EXPECT_EQ(cpc_set_sample(cpc, the_set, the_buf), 0);
	cpc_buf_get(cpc, the_buf, 0, &v);
	EXPECT(v < 64);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	signal(SIGEMT, SIG_DFL);
}

/* A set of which N events of the kernel overflow. */
static void
bind_in_kernel(cpc_t *cpc, uint64_t n)
{
	the_set = cpc_set_create(cpc);
	EXPECT(cpc_set_add_request(cpc, the_set, "PAPI_tot_ins", 0 - n,
		   CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT, 0, NULL) == 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, 0), 0);
}

/*
 * CPC-OVF-12: a SIGEMT that nobody takes ends no sleep, wherever on the way to
 * it the counters overflow: at each seventh instruction of the kernel.
 */
CPC_TEST(blocked_it_ends_no_sleep)
{
	struct timespec soon = { .tv_nsec = 100000 };
	sigset_t emt, pending;
	int overflows = 0;

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
	signal(SIGEMT, SIG_IGN); /* it is pending no more */
	sigprocmask(SIG_UNBLOCK, &emt, NULL);
	signal(SIGEMT, SIG_DFL);
}

static volatile bool take, leave;

/* By a set that is bound to the CPU, once each time. */
static void *
take_counters(void *arg)
{
	cpc_set_t *set = set_of(arg, INS_EVENT);

	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 0, NULL), 0);
	while (!leave) {
		if (take) {
			EXPECT_EQ(cpc_bind_cpu(arg, 0, set, 0), 0);
			EXPECT_EQ(cpc_unbind(arg, set), 0);
			take = false;
		}
		sched_yield();
	}
	return NULL;
}

static void
count_signal(int sig)
{
	(void)sig;
	calls++;
}

/*
 * CPC-INV-04: nor does one that does not come, since the counters were taken
 * away between the overflow on the way to sleep and the end of that.
 */
CPC_TEST(taken_away_it_ends_no_sleep)
{
	struct timespec soon = { .tv_nsec = 100000 };
	pthread_t taker;

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows of user code do not interrupt here");
	signal(SIGEMT, count_signal);
	take = leave = false;
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, 0, NULL), 0);
	REQUIRE(pthread_create(&taker, NULL, take_counters, cpc) == 0);
	for (uint64_t n = 100; n < 1500; n += 7) {
		calls = 0;
		bind_in_kernel(cpc, n);
		take = true;
		EXPECT(nanosleep(&soon, NULL) == 0 || calls > 0);
		while (take)
			sched_yield();
		cpc_set_destroy(cpc, the_set);
	}
	leave = true;
	pthread_join(taker, NULL);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
	signal(SIGEMT, SIG_DFL);
}

#ifdef __x86_64__
static const unsigned char call_insn[] = { 0x0f, 0x05 }; /* SYSCALL */
#else
static const unsigned char call_insn[] = { 0x01, 0, 0, 0xd4 }; /* SVC #0 */
#endif

static volatile int made_again;

static void
look(int sig, siginfo_t *si, void *context)
{
	const ucontext_t *uc = context;
	const void *at = (const void *)uc->uc_mcontext.gregs[REG_PC];

	(void)sig;
	if (memcmp(at, call_insn, sizeof call_insn) != 0)
		return;
	made_again++;
	EXPECT_EQ((uintptr_t)si->si_addr, (uintptr_t)at);
}

/* CPC-OVF-02, CPC-OVF-18: where the program goes on is the call itself. */
CPC_TEST(in_a_call_that_is_made_again_it_is_there)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };
	struct timespec soon = { .tv_nsec = 100000 };

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows of user code do not interrupt here");
	sa.sa_sigaction = look;
	sigaction(SIGEMT, &sa, NULL);
	made_again = 0;
	for (uint64_t n = 100; n < 2000; n += 100) {
		pid_t child = fork();

		if (child == 0)
			_exit(nanosleep(&soon, NULL));
		bind_in_kernel(cpc, n);
		EXPECT_EQ(waitpid(child, NULL, 0), child);
		cpc_set_destroy(cpc, the_set);
	}
	EXPECT(made_again != 0);
	signal(SIGEMT, SIG_DFL);
}
