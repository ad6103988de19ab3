/*
 * No process reads registers of another one.  A process fills every register
 * that it can and yields.  A new one, on the same CPU, then looks at its own,
 * in each way that has the kernel save, load or clear registers.
 */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <payload.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

TEST_KEEPS(4); /* page tables */

/* tests/lib/image/ARCH/fpstate.S */
void fpstate_base(
    const void *load, void *store, long number, const void *a, const void *b);
size_t fpstate_wide_bytes(void); /* 0: the CPU has only the base */
void fpstate_wide(
    const void *load, void *store, long number, const void *a, const void *b);
void fpstate_wide_look(void *store);

#define MAXBYTES 16384
#define PAGE     4096
#define SECRET   0xa7
#define RUN      8 /* so many equal bytes are a secret: a whole predicate */

/* fpstate_wide_bytes(), shared: to ask for it uses a wide register. */
static volatile size_t *wide;
static unsigned found; /* secrets that this process has seen */
static char altstack[8 * PAGE];
static char *edge; /* what is from here on is not mapped */
static sigjmp_buf out;

static void
scan(const void *at, const void *end)
{
	const volatile unsigned char *p = at;
	unsigned run = 0;

	while (p < (const volatile unsigned char *)end) {
		run = *p++ == SECRET ? run + 1 : 0;
		found += run == RUN;
	}
}

static void
look(void)
{
	static unsigned char store[MAXBYTES];

	if (*wide != 0)
		fpstate_wide_look(store);
	scan(store, store + sizeof store);
#ifdef __x86_64__
	char x87[108] = { 0 };

	__asm__ volatile("fnsave %0; frstor %0" : "+m"(x87));
	scan(x87, x87 + sizeof x87);
#endif
}

static void
handle(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t ss = { .ss_sp = altstack, .ss_size = sizeof altstack };

	sigaltstack(&ss, NULL);
	sa.sa_sigaction = handler;
	sigaction(sig, &sa, NULL);
}

static void
look_in_handler(int sig, siginfo_t *si, void *uc)
{
	scan(uc, altstack + sizeof altstack); /* the whole frame */
	look();
	if (sig == SIGSEGV)
		siglongjmp(out, 1);
}

static void
end_with_own(int sig, siginfo_t *si, void *uc)
{
	scan(uc, altstack + sizeof altstack);
	_exit(found != 0);
}

/* The process with secrets.  It ends with 1 if its frame showed them. */
static void
keep_secrets(void)
{
	static unsigned char load[MAXBYTES], store[MAXBYTES];

	*wide = fpstate_wide_bytes();
	handle(SIGUSR2, end_with_own);
	memset(load, SECRET, sizeof load);
	for (;;) {
#ifdef __x86_64__
		__asm__ volatile("fninit");
		for (int i = 0; i < 8; i++)
			__asm__ volatile("fldt %0" : : "m"(load));
#endif
		(*wide != 0 ? fpstate_wide : fpstate_base)(
		    load, store, SYS_sched_yield, NULL, NULL);
	}
}

/* The changes of a frame by which a handler returns */

#ifdef __aarch64__
#define FPSIMD_BYTES  528
#define RECORDS_BYTES 4096
#define SIGINFO_BYTES 128
#define ESR_MAGIC     0x45535201
#define SVE_MAGIC     0x53564501

static char *
records_of(ucontext_t *uc)
{
	return (char *)uc->uc_mcontext.__reserved;
}

static void
no_sve_record(ucontext_t *uc)
{
	look(); /* turns SVE on, and the frame turns it off */
	memset(records_of(uc) + FPSIMD_BYTES, 0, 16);
}

/* Put a record with all SVE registers, of zeros, at the end of the frame. */
static char *
put_sve_record(ucontext_t *uc)
{
	size_t vector = *wide * 8 / (32 * 8 + 17);
	size_t bytes = (*wide + 16 + 15) & ~(size_t)15;
	char *end = records_of(uc) + RECORDS_BYTES, *sve = end - bytes;
	char *fill = records_of(uc) + FPSIMD_BYTES;

	memset(fill, 0, (size_t)(end - fill));
	*(struct _aarch64_ctx *)fill =
	    (struct _aarch64_ctx){ ESR_MAGIC, (uint32_t)(sve - fill) };
	*(struct _aarch64_ctx *)sve =
	    (struct _aarch64_ctx){ SVE_MAGIC, (uint32_t)bytes };
	((uint16_t *)sve)[4] = (uint16_t)vector;
	return sve;
}

static void
whole_sve_record(ucontext_t *uc)
{
	if (*wide != 0)
		put_sve_record(uc);
}

/* Return by a copy of the frame, of which what follows `end` is not mapped. */
static void
return_by_copy(ucontext_t *uc, const char *end)
{
	const char *start = (char *)uc - SIGINFO_BYTES;
	char *copy = edge - (end - start);

	memcpy(copy, start, (size_t)(end - start));
	__asm__ volatile("mov sp, %0; mov x8, %1; svc #0"
			 :
			 : "r"(copy), "i"(SYS_rt_sigreturn)
			 : "x8", "memory");
}

static void
sve_record_without_registers(ucontext_t *uc)
{
	if (*wide != 0)
		return_by_copy(uc, put_sve_record(uc) + 16);
}

static void
part_of_an_sve_record(ucontext_t *uc)
{
	if (*wide != 0)
		return_by_copy(uc, put_sve_record(uc) + 256);
}

static void
part_of_an_fpsimd_record(ucontext_t *uc)
{
	return_by_copy(uc, records_of(uc) + 256);
}

static void (*const changes[])(ucontext_t *uc) = { NULL, no_sve_record,
	whole_sve_record, sve_record_without_registers, part_of_an_sve_record,
	part_of_an_fpsimd_record };
#else
#define SW_BYTES  464 /* in the FXSAVE area: the magic number is there */
#define XSTATE_BV 512

static char *
area_of(ucontext_t *uc)
{
	return (char *)uc->uc_mcontext.fpregs;
}

static void
no_area(ucontext_t *uc)
{
	uc->uc_mcontext.fpregs = NULL;
}

static void
no_xsave_area(ucontext_t *uc)
{
	memset(area_of(uc) + SW_BYTES, 0, 4);
}

static void
only_x87(ucontext_t *uc)
{
	if (*wide != 0)
		*(uint64_t *)(area_of(uc) + XSTATE_BV) = 1;
}

static void
part_of_an_area(ucontext_t *uc)
{
	const size_t bytes = 256;

	memcpy(edge - bytes, area_of(uc), bytes);
	uc->uc_mcontext.fpregs = (void *)(edge - bytes);
}

static void (*const changes[])(ucontext_t *uc) = { NULL, no_area, no_xsave_area,
	only_x87, part_of_an_area };
#endif

static void (*change)(ucontext_t *uc);

static void
return_changed(int sig, siginfo_t *si, void *uc)
{
	scan(uc, altstack + sizeof altstack);
	sched_yield(); /* the secrets are in the CPU again */
	change(uc);
}

/* The secrets that a new process sees, or finds by such a changed frame. */
static int
secrets_seen(void)
{
	pid_t looker = fork();

	if (looker != 0)
		return test_exit_code(looker);
	sched_yield();
	handle(SIGSEGV, look_in_handler);
	handle(SIGUSR1, return_changed);
	if (change != NULL && sigsetjmp(out, 1) == 0)
		raise(SIGUSR1);
	sched_yield();
	look();
	_exit(found < 255 ? (int)found : 255);
}

TEST(no_process_sees_registers_of_another_one)
{
	cpu_set_t first;
	pid_t keeper;

	edge = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(edge != MAP_FAILED);
	wide = (volatile size_t *)edge;
	edge += 3 * PAGE;
	mprotect(edge, PAGE, PROT_NONE);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	REQUIRE(sched_setaffinity(0, sizeof first, &first) == 0);
	REQUIRE((keeper = fork()) >= 0);
	if (keeper == 0)
		keep_secrets();
	for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
		int n;

		change = changes[i];
		if ((n = secrets_seen()) != 0)
			test_note("change %u", i);
		EXPECT_EQ(n, 0);
	}
	kill(keeper, SIGUSR2);
	EXPECT_EQ(test_exit_code(keeper), 1);
	munmap(edge - 3 * PAGE, 4 * PAGE);
}

static void
step_out(int sig)
{
	siglongjmp(out, sig);
}

TEST(debug_registers_are_not_readable)
{
	uintptr_t value;
	int sig;

	if (payload_privilege() == PAYLOAD_SYSTEM)
		SKIP("at system privilege a program may use them");
	signal(SIGSEGV, step_out);
	signal(SIGILL, step_out);
	if ((sig = sigsetjmp(out, 1)) == 0)
#ifdef __x86_64__
		__asm__ volatile("mov %%dr0, %0" : "=r"(value));
	EXPECT_EQ(sig, SIGSEGV);
#else
		__asm__ volatile("mrs %0, dbgbvr0_el1" : "=r"(value));
	EXPECT_EQ(sig, SIGILL);
#endif
	signal(SIGSEGV, SIG_DFL);
	signal(SIGILL, SIG_DFL);
}
