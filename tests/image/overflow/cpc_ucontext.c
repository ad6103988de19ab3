/* An overflow handler's ucontext_t, as programs for illumos use it. */
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

/* At system privilege the kernel's signal delivery is counted, too. */
#define PERIOD (own_privilege() == CPC_COUNT_USER ? 1000 : 20000)

#ifdef __aarch64__
#define REG_TURNS REG_R0
#else
#define REG_TURNS REG_RDI
#endif

/* Pages of the C library's heap, and page tables of a thread's stack. */
TEST_KEEPS(24);

static cpc_t *the_cpc;
static cpc_set_t *the_set;
static volatile int handler_calls;
static uintptr_t handler_pc, handler_sp, handler_addr;

static void
install_handler(void (*fn)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	sa.sa_sigaction = fn;
	sigaction(SIGEMT, &sa, NULL);
	handler_calls = 0;
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

/* End the interrupted loop, and block SIGUSR1 from then on. */
static void
end_the_loop(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	handler_calls++;
	handler_addr = (uintptr_t)si->si_addr;
	handler_pc = (uintptr_t)uc->uc_mcontext.gregs[PC];
	handler_sp = (uintptr_t)uc->uc_mcontext.gregs[SP];
	uc->uc_mcontext.gregs[REG_TURNS] = 1;
	sigaddset(&uc->uc_sigmask, SIGUSR1);
}

/* CPC-CONST-02, CPC-OVF-02 */
CPC_TEST(changes_by_the_handler_take_effect)
{
	uintptr_t own_frame = (uintptr_t)__builtin_frame_address(0);
	sigset_t mask;

	NEEDS_EXACT_OVERFLOW();
	install_handler(end_the_loop);
	REQUIRE(bind_overflowing(cpc));
	spin_loop(1ULL << 40); /* too long to finish */
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(handler_addr, handler_pc);
	EXPECT(handler_pc - (uintptr_t)spin_loop < 64);
	EXPECT(own_frame - handler_sp < 4096 || handler_sp - own_frame < 4096);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	EXPECT_EQ(sigismember(&mask, SIGUSR1), 1);
	EXPECT_EQ(sigismember(&mask, SIGEMT), 0);
	sigdelset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void
restart_set(int sig, siginfo_t *si, void *context)
{
	handler_calls++;
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
		nanosleep(&moment, NULL); /* a cancellation point */
	}
}

/*
 * The C library cancels a thread by a signal.  The handler of that signal
 * edits the ucontext_t: first the mask, to be interrupted again later, then
 * the PC.  Overflows interrupt the thread at any place during this.
 */
CPC_TEST(a_thread_that_overflows_is_cancelled)
{
	const struct timespec moment = { 0, 1000000 };
	pthread_t t;
	void *end = NULL;

	NEEDS_EXACT_OVERFLOW();
	install_handler(restart_set);
	for (int i = 0; i < 10; i++) {
		int before = handler_calls;

		REQUIRE(pthread_create(&t, NULL, overflow_for_ever, cpc) == 0);
		while (handler_calls - before < 20 * i)
			nanosleep(&moment, NULL);
		EXPECT_EQ(pthread_cancel(t), 0);
		EXPECT_EQ(pthread_join(t, &end), 0);
		EXPECT(end == PTHREAD_CANCELED);
		cpc_set_destroy(cpc, the_set);
	}
}
