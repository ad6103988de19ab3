/* Each system call, as each of its allocations fails (test_hooks=yes). */
#include "tests/image/hostile/alloc_fail/turns.h"

#include <payload.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "tests/image/hostile/alloc_fail/counters.h"
#include "tests/lib/image/test.h"

TEST(every_call_is_listed)
{
	for (long n = 0; n < 512; n++) {
		long known =
		    syscall(BARECPC_SYS_TEST, BARECPC_TEST_KNOWN, (uintptr_t)n);

		if (known == -1)
			SKIP("the kernel has no test hooks: boot with "
			     "test_hooks=yes");
		if (known == 1 && !EXPECT(turn_listed(n)))
			test_note("system call %ld", n);
	}
}

TEST(memory)
{
	turns_of(turn_memory);
}

TEST(files)
{
	turn_open_files();
	turns_of(turn_files);
	turn_close_files();
}

TEST(calls_of_one_architecture)
{
	turn_open_files();
	turns_of(turn_old);
	turn_close_files();
}

TEST(the_machine)
{
	turns_of(turn_machine);
}

TEST(signals)
{
	turns_of(turn_signals);
}

TEST(counters)
{
	if (!counters_begin())
		SKIP("no usable PMU here");
	turns_of(turn_page);
	counters_warm();
	turns_of(turn_counters);
	counters_end();
}

TEST(processes)
{
	turns_of(turn_processes);
}

static sigjmp_buf out;
static volatile int fault_code;

static void
handle_fault(int sig, siginfo_t *si, void *uc)
{
	fault_code = si->si_code;
	siglongjmp(out, 1);
}

/* Memory is populated when it is mapped: a fault asks for none. */
TEST(a_fault_needs_no_memory)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO }, was;
	char *p = test_map(4096, PROT_NONE);
	char *volatile at[] = { p, (char *)16 };
	int wanted[] = { SEGV_ACCERR, SEGV_MAPERR };

	sa.sa_sigaction = handle_fault;
	sigaction(SIGSEGV, &sa, &was);
	for (volatile int i = 0; i < 2; i++) {
		fault_code = 0;
		if (syscall(BARECPC_SYS_TEST, BARECPC_TEST_FAIL, 1L, 1L) == -1)
			SKIP("the kernel has no test hooks: boot with "
			     "test_hooks=yes");
		if (sigsetjmp(out, 1) == 0)
			*at[i] = 1;
		EXPECT_EQ(syscall(BARECPC_SYS_TEST, BARECPC_TEST_FAIL_END), 0);
		EXPECT_EQ(fault_code, wanted[i]);
	}
	sigaction(SIGSEGV, &was, NULL);
	munmap(p, 4096);
}

TEST_KEEPS(4); /* the counter page of the LWP, and the heap */
