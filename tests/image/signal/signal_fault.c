/* A fault becomes a signal with its reason and place; the handler decides. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <payload.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Page tables of memory that was mapped or made inaccessible. */
TEST_KEEPS(5);

static volatile int calls, last_sig, last_code;
static volatile uintptr_t last_addr, last_pc;
static sigjmp_buf out;
static volatile char *volatile nowhere = (volatile char *)0x10;

static void
record_fault(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	calls++;
	last_sig = sig;
	last_code = si->si_code;
	last_addr = (uintptr_t)si->si_addr;
	last_pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	siglongjmp(out, 1);
}

static void
install_handlers(void)
{
	static const int sigs[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	sa.sa_sigaction = record_fault;
	for (unsigned i = 0; i < sizeof sigs / sizeof *sigs; i++)
		sigaction(sigs[i], &sa, NULL);
	calls = last_sig = last_code = 0;
	last_addr = last_pc = 0;
}

/* Do something that faults, and come back through the handler. */
#define FAULTS(what)                                                           \
	do {                                                                   \
		install_handlers();                                            \
		if (sigsetjmp(out, 1) == 0) {                                  \
			what;                                                  \
			EXPECT(!"it faulted");                                 \
		}                                                              \
		EXPECT_EQ(calls, 1);                                           \
	} while (0)

static void
expect_fault(int sig, int code, uintptr_t addr)
{
	EXPECT_EQ(last_sig, sig);
	EXPECT_EQ(last_code, code);
	EXPECT_EQ(last_addr, addr);
}

TEST(reading_where_nothing_is_mapped)
{
	FAULTS(*nowhere);
	expect_fault(SIGSEGV, SEGV_MAPERR, 0x10);
	EXPECT(last_pc > 0x10);
	FAULTS(*(volatile char *)0x7000deadb000 = 1);
	expect_fault(SIGSEGV, SEGV_MAPERR, 0x7000deadb000);
}

TEST(writing_what_is_read_only)
{
	long page = sysconf(_SC_PAGESIZE);
	volatile char *p = test_map((size_t)page, PROT_READ);

	REQUIRE(p != NULL);
	FAULTS(p[5] = 1);
	expect_fault(SIGSEGV, SEGV_ACCERR, (uintptr_t)p + 5);
	EXPECT_EQ(mprotect((void *)p, (size_t)page, PROT_NONE), 0);
	FAULTS(p[7]);
	expect_fault(SIGSEGV, SEGV_ACCERR, (uintptr_t)p + 7);
	munmap((void *)p, (size_t)page);
	FAULTS(p[9]);
	expect_fault(SIGSEGV, SEGV_MAPERR, (uintptr_t)p + 9);
}

TEST(running_memory_that_is_not_executable)
{
	static char data[64] __attribute__((aligned(16)));
	void (*volatile fn)(void) = (void (*)(void))(uintptr_t)data;

	FAULTS(fn());
	expect_fault(SIGSEGV, SEGV_ACCERR, (uintptr_t)data);
	EXPECT_EQ(last_pc, (uintptr_t)data);
	fn = (void (*)(void))0x20;
	FAULTS(fn());
	expect_fault(SIGSEGV, SEGV_MAPERR, 0x20);
	EXPECT_EQ(last_pc, 0x20);
}

TEST(an_undefined_instruction)
{
#ifdef __aarch64__
	FAULTS(__asm__ volatile("udf #0"));
#else
	FAULTS(__asm__ volatile("ud2"));
#endif
	EXPECT_EQ(last_sig, SIGILL);
	EXPECT_EQ(last_code, ILL_ILLOPC);
	EXPECT_EQ(last_addr, last_pc);
}

TEST(a_breakpoint)
{
#ifdef __aarch64__
	FAULTS(__asm__ volatile("brk #0"));
#else
	FAULTS(__asm__ volatile("int3"));
#endif
	EXPECT_EQ(last_sig, SIGTRAP);
	EXPECT_EQ(last_code, TRAP_BRKPT);
}

TEST(a_division_by_zero)
{
#ifdef __x86_64__
	volatile int one = 1, zero = 0;

	FAULTS(one = one / zero);
	EXPECT_EQ(last_sig, SIGFPE);
	EXPECT_EQ(last_code, FPE_INTDIV);
	EXPECT_EQ(last_addr, last_pc);
#else
	SKIP("arm64 divides by zero without a fault");
#endif
}

TEST(a_misaligned_access)
{
#ifdef __aarch64__
	void (*volatile fn)(void) =
	    (void (*)(void))((uintptr_t)install_handlers + 2);

	FAULTS(fn());
	EXPECT_EQ(last_sig, SIGBUS);
	EXPECT_EQ(last_code, BUS_ADRALN);
	EXPECT_EQ(last_addr, (uintptr_t)install_handlers + 2);
#else
	static long words[2];

	if (payload_privilege() == PAYLOAD_SYSTEM)
		SKIP("x86-64 checks alignment only at ring 3");
	install_handlers();
	/* The AC flag: check alignment. */
	if (sigsetjmp(out, 1) == 0)
		__asm__ volatile("pushfq; orl $0x40000, (%%rsp); popfq;"
				 "movq 1(%0), %%rax"
				 :
				 : "r"(words)
				 : "rax", "memory");
	__asm__ volatile("pushfq; andl $~0x40000, (%%rsp); popfq" ::: "memory");
	if (calls == 0)
		SKIP("this CPU, or its emulator, does not check alignment");
	EXPECT_EQ(last_sig, SIGBUS);
	EXPECT_EQ(last_code, BUS_ADRALN);
#endif
}

/* siglongjmp(3) restores the mask, so each fault reaches the handler. */
TEST(a_hundred_faults)
{
	volatile int i, n = 0;

	for (i = 0; i < 100; i++) {
		FAULTS(*nowhere);
		n += calls;
	}
	EXPECT_EQ(n, 100);
}

static volatile int nested;

static void
fault_in_handler(int sig, siginfo_t *si, void *uc)
{
	if (sig == SIGSEGV) {
		nested = 1;
#ifdef __aarch64__
		__asm__ volatile("udf #0");
#else
		__asm__ volatile("ud2");
#endif
	}
	nested++;
	siglongjmp(out, 1);
}

TEST(a_fault_in_a_handler_runs_another)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	sa.sa_sigaction = fault_in_handler;
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	if (sigsetjmp(out, 1) == 0)
		*nowhere = 0;
	EXPECT_EQ(nested, 2);
}

#ifdef __x86_64__
static volatile int steps;

static void
count_steps(int sig, siginfo_t *si, void *uc)
{
	steps += si->si_code == TRAP_TRACE;
}

/* With TF set, a trap follows each instruction but the one that set it. */
TEST(single_steps)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	sa.sa_sigaction = count_steps;
	sigaction(SIGTRAP, &sa, NULL);
	__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq;"
			 "nop; nop; nop; nop; nop;"
			 "pushfq; andl $~0x100, (%%rsp); popfq" ::
			     : "memory");
	EXPECT_EQ(steps, 8);
	signal(SIGTRAP, SIG_DFL);
}
#endif
