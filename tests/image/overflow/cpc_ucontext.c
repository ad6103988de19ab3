/*
 * The ucontext_t of an overflow's handler, as programs written for illumos
 * use it: without asking for it by a macro, by names that are the same on
 * both architectures; and what a handler makes of it holds.
 */
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* At system privilege the kernel's delivery of the signal is counted. */
#define PERIOD (own_privilege() == CPC_COUNT_USER ? 1000 : 20000)

#ifdef __aarch64__
#define REG_TURNS REG_R0
#else
#define REG_TURNS REG_RDI
#endif

/* The C library's heap keeps what it took, a thread's stack tables. */
TEST_KEEPS(24);

static cpc_t *the_cpc;
static cpc_set_t *the_set;
static volatile int calls;
static uintptr_t pc, sp, addr;

#define NEEDS_OVERFLOW()                                                       \
	do {                                                                   \
		if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)         \
			SKIP("overflows do not interrupt here");               \
		if (!have_event(cpc, INS_EVENT))                               \
			SKIP("this PMU does not count " INS_EVENT);            \
	} while (0)

static void
install(void (*fn)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	sa.sa_sigaction = fn;
	sigaction(SIGEMT, &sa, NULL);
	calls = 0;
}

static bool
bind_overflowing(cpc_t *cpc)
{
	the_cpc = cpc;
	the_set = cpc_set_create(cpc);
	EXPECT(cpc_set_add_request(cpc, the_set, INS_EVENT, -(uint64_t)PERIOD,
		   own_privilege() | CPC_OVF_NOTIFY_EMT, 0, NULL) == 0);
	return EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, 0), 0);
}

/* End the loop it interrupted, and let no SIGUSR1 in from then on. */
static void
end_the_loop(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	calls++;
	addr = (uintptr_t)si->si_addr;
	pc = (uintptr_t)uc->uc_mcontext.gregs[PC];
	sp = (uintptr_t)uc->uc_mcontext.gregs[SP];
	uc->uc_mcontext.gregs[REG_TURNS] = 1;
	sigaddset(&uc->uc_sigmask, SIGUSR1);
}

/* CPC-CONST-02, CPC-OVF-02 */
CPC_TEST(what_the_handler_makes_of_it_holds)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	sigset_t mask;

	NEEDS_OVERFLOW();
	install(end_the_loop);
	REQUIRE(bind_overflowing(cpc));
	spin_loop(1ULL << 40); /* which nobody has the time for */
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(addr, pc);
	EXPECT(pc - (uintptr_t)spin_loop < 64);
	EXPECT(here - sp < 4096 || sp - here < 4096);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	EXPECT_EQ(sigismember(&mask, SIGUSR1), 1);
	EXPECT_EQ(sigismember(&mask, SIGEMT), 0);
	sigdelset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void
go_on(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)si;
	(void)context;
	calls++;
	EXPECT_EQ(cpc_set_restart(the_cpc, the_set), 0);
}

static void *
overflow_for_ever(void *arg)
{
	const struct timespec moment = { 0, 1000 };

	if (!bind_overflowing(arg))
		return NULL;
	for (;;) {
		spin_loop(100000);
		nanosleep(&moment, NULL); /* where it may be cancelled */
	}
}

/*
 * The C library cancels a thread by a signal whose handler edits both: the
 * mask, to be interrupted again later, and at last the PC.  Overflows
 * interrupt it everywhere meanwhile.
 */
CPC_TEST(a_thread_that_overflows_is_cancelled)
{
	const struct timespec moment = { 0, 1000000 };
	pthread_t t;
	void *end = NULL;

	NEEDS_OVERFLOW();
	install(go_on);
	for (int i = 0; i < 10; i++) {
		int before = calls;

		REQUIRE(pthread_create(&t, NULL, overflow_for_ever, cpc) == 0);
		while (calls - before < 20 * i)
			nanosleep(&moment, NULL);
		EXPECT_EQ(pthread_cancel(t), 0);
		EXPECT_EQ(pthread_join(t, &end), 0);
		EXPECT(end == PTHREAD_CANCELED);
		cpc_set_destroy(cpc, the_set);
	}
}
