/* A C++ program of glibc: counts, exceptions, signals and threads are right. */
#include <libcpc.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/lwp.h>
#include <sys/syscall.h>
#include <thread.h>
#include <ucontext.h>
#include <unistd.h>

#include "turns.h"

#define TURNS 2000 /* of two instructions */

static int failures;

static void
expect(bool holds, const char *what)
{
	std::printf("%s %s\n", holds ? "right:" : "wrong:", what);
	failures += !holds;
}

static volatile sig_atomic_t signals;
static volatile uintptr_t last_pc;

static void
count_signal(int, siginfo_t *, void *arg)
{
	auto *uc = static_cast<ucontext_t *>(arg);

	signals = signals + 1;
	last_pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];
}

static void
catch_signal(int sig)
{
	struct sigaction sa = {};

	sa.sa_sigaction = count_signal;
	sa.sa_flags = SA_SIGINFO | SA_RESTART;
	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, nullptr);
}

struct guard {
	int *n;
	~guard()
	{
		++*n;
	}
};

static int unwound;

static void
throw_at(int depth)
{
	guard g{ &unwound };

	if (depth == 0)
		throw std::runtime_error("deep");
	throw_at(depth - 1);
}

static std::string
thrown()
{
	try {
		throw_at(10);
	} catch (const std::exception &e) {
		return e.what();
	}
	return "nothing";
}

static uint64_t
counted(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	uint64_t n = 0;

	if (cpc_set_sample(cpc, set, buf) == 0)
		cpc_buf_get(cpc, buf, 0, &n);
	return n;
}

static uint64_t
between_samples(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, long turns)
{
	uint64_t before = counted(cpc, set, buf);

	make_turns(turns);
	return counted(cpc, set, buf) - before;
}

static void
count_exactly(cpc_t *cpc)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_buf_t *buf;
	uint64_t n1, n2;

	cpc_set_add_request(
	    cpc, set, "PAPI_tot_ins", 0, CPC_COUNT_USER, 0, nullptr);
	buf = cpc_buf_create(cpc, set);
	expect(cpc_bind_curlwp(cpc, set, 0) == 0, "bind");
	between_samples(cpc, set, buf, TURNS); /* a first sample is longer */
	n1 = between_samples(cpc, set, buf, TURNS);
	n2 = between_samples(cpc, set, buf, 3 * TURNS);
	expect(n2 - n1 == 4 * TURNS, "the count is exact");
	cpc_set_destroy(cpc, set);
}

static void
take_overflow(cpc_t *cpc)
{
	cpc_set_t *set = cpc_set_create(cpc);

	cpc_set_add_request(cpc, set, "PAPI_tot_ins", UINT64_MAX - 1000,
	    CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, nullptr);
	catch_signal(SIGEMT);
	signals = 0;
	expect(cpc_bind_curlwp(cpc, set, 0) == 0, "bind with notification");
	make_turns(TURNS);
	expect(signals == 1 && last_pc != 0, "SIGEMT, and its handler returns");
	cpc_set_destroy(cpc, set);
}

/* Calls that glibc and tools try first.  Creating a thread tries clone3. */
static void
try_calls()
{
	bool absent = syscall(SYS_clone3, nullptr, 0) == -1 && errno == ENOSYS;

	absent &= syscall(SYS_rseq, nullptr, 0, 0, 0) == -1 && errno == ENOSYS;
	absent &= syscall(SYS_personality, ~0UL) == -1 && errno == ENOSYS;
	expect(absent, "calls that are not offered");
}

int
main()
{
	std::vector<std::thread> threads;
	std::string in_thread[4];
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	catch_signal(SIGUSR1);
	raise(SIGUSR1);
	raise(SIGUSR1);
	expect(signals == 2, "a signal's handler returns");
	expect(thrown() == "deep" && unwound == 11, "an exception unwinds");
	for (auto &text : in_thread)
		threads.emplace_back([&text] { text = thrown(); });
	for (auto &t : threads)
		t.join();
	expect(in_thread[0] == "deep" && in_thread[3] == "deep",
	    "an exception unwinds in a thread");
	expect(_lwp_self() == 1 && thr_self() == pthread_self(), "_lwp_self");
	try_calls();
	if (cpc == nullptr) {
		std::perror("cpc_open");
		return 77;
	}
	count_exactly(cpc);
	take_overflow(cpc);
	cpc_close(cpc);
	return failures != 0;
}
