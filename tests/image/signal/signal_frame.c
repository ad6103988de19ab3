/* A handler's ucontext_t has the registers: it changes them, but no right. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <payload.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* A region that mprotect(2) split stays split. */
TEST_KEEPS(16);

#define MAXBYTES 16384
#define PAGE     4096
extern const size_t fpstate_base_bytes;
void fpstate_base(
    const void *load, void *store, long number, const void *a, const void *b);
size_t fpstate_wide_bytes(void); /* 0: the CPU has only the base */
void fpstate_wide(
    const void *load, void *store, long number, const void *a, const void *b);

#ifdef __aarch64__
#define NREG  31
#define REG_A 0 /* index in gregs[] of an argument or result */
#else
#define NREG  15
#define REG_A REG_RAX
#endif
/*
 * ARCH/sigregs.S: load all general registers but the stack pointer, execute an
 * undefined instruction, store them all.  A handler must step over that
 * instruction, from sigregs_undefined to sigregs_resume.
 */
void sigregs(const uint64_t load[NREG], uint64_t store[NREG]);
extern char sigregs_undefined[], sigregs_resume[];

static volatile int calls;
static volatile uintptr_t seen_pc;
static sigjmp_buf out;

static void
install_handler(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | flags };

	sa.sa_sigaction = handler;
	sigaction(sig, &sa, NULL);
	calls = 0;
}

/* Change registers that a function may, and step over the instruction. */
static void
step_over(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;
	volatile double d = (double)sig;

	d = d * 3.0 + (double)(uintptr_t)si;
	seen_pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	uc->uc_mcontext.gregs[REG_PC] = (greg_t)(uintptr_t)sigregs_resume;
	calls++;
}

TEST(general_registers_survive_a_handler)
{
	uint64_t load[NREG], store[NREG];

	install_handler(SIGILL, step_over, 0);
	for (unsigned i = 0; i < NREG; i++) {
		load[i] = 0x0101010101010101ULL * (i + 1);
		store[i] = 0;
	}
	sigregs(load, store);
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(seen_pc, (uintptr_t)sigregs_undefined);
	for (unsigned i = 0; i < NREG; i++)
		EXPECT_EQ(store[i], load[i]);
}

static uint64_t edit_want[NREG];

static void
edit_all(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	step_over(sig, si, context);
#ifdef __aarch64__
	for (unsigned i = 0; i < NREG; i++)
		uc->uc_mcontext.gregs[i] = edit_want[i];
#else
	/* In the order of gregs[], which has RSP at 15. */
	for (unsigned i = 0; i < NREG; i++)
		uc->uc_mcontext.gregs[i] = (greg_t)edit_want[i];
#endif
}

TEST(general_registers_become_what_the_handler_says)
{
	uint64_t load[NREG] = { 0 }, store[NREG];

	install_handler(SIGILL, edit_all, 0);
	for (unsigned i = 0; i < NREG; i++)
		edit_want[i] = 0x1000100010001ULL * (i + 7);
	sigregs(load, store);
	for (unsigned i = 0; i < NREG; i++)
		EXPECT_EQ(store[i], edit_want[i]);
}

static volatile int drop_records;

/* Fill all SIMD registers with other values. */
static void
spoil_simd(int sig, siginfo_t *si, void *context)
{
	static unsigned char junk[MAXBYTES], trash[MAXBYTES];

#ifdef __aarch64__
	ucontext_t *uc = context;
	struct fpsimd_context *fp = (void *)uc->uc_mcontext.__reserved;

	if (drop_records)
		memset(fp + 1, 0, sizeof(struct _aarch64_ctx));
#else
#endif
	memset(junk, 0xa5, sizeof junk);
	if (fpstate_wide_bytes() != 0)
		fpstate_wide(junk, trash, SYS_getpid, NULL, NULL);
	else
		fpstate_base(junk, trash, SYS_getpid, NULL, NULL);
	calls++;
}

typedef void across_fn(
    const void *load, void *store, long number, const void *a, const void *b);

/* Send SIGUSR1, which runs `sig`'s handler; the registers survive. */
static void
check_simd(across_fn *across, size_t bytes, int sig)
{
	static unsigned char load[MAXBYTES], store[MAXBYTES];
	size_t i;

	REQUIRE(bytes <= MAXBYTES);
	install_handler(sig, spoil_simd, 0);
	for (i = 0; i < bytes; i++)
		load[i] = (unsigned char)(i * 13 + i / 256 + 5);
	across(load, store, SYS_tkill, (void *)(uintptr_t)getpid(),
	    (void *)(uintptr_t)SIGUSR1);
	EXPECT_EQ(calls, 1);
	for (i = 0; i < bytes && store[i] == load[i]; i++)
		;
	EXPECT_EQ(i, bytes);
}

static void
fail_if_called(int sig, siginfo_t *si, void *uc)
{
	abort();
}

/* Make each page of the frame inaccessible in turn: SIGSEGV comes. */
static void
check_simd_with_hole(across_fn *across, size_t bytes)
{
	static char stack[8 * PAGE] __attribute__((aligned(PAGE)));
	stack_t ss = { .ss_sp = stack }, none = { .ss_flags = SS_DISABLE };
	size_t frame = getauxval(AT_MINSIGSTKSZ), top;
	char *hole = stack + 2 * PAGE;

	REQUIRE(frame <= 2 * PAGE);
	mprotect(hole, PAGE, PROT_NONE);
	/*
	 * 64: the area of FXSAVE ends at a multiple of it. 256: a frame takes
	 * at most this for its alignment and the red zone.
	 */
	for (top = 64; top < PAGE + frame - 256; top += 48) {
		ss.ss_size = 2 * PAGE + top;
		REQUIRE(sigaltstack(&ss, NULL) == 0);
		install_handler(SIGUSR1, fail_if_called, SA_ONSTACK);
		check_simd(across, bytes, SIGSEGV);
	}
	sigaltstack(&none, NULL);
	mprotect(hole, PAGE, PROT_READ | PROT_WRITE);
	signal(SIGSEGV, SIG_DFL);
}

TEST(base_simd_registers_survive_a_handler)
{
	check_simd(fpstate_base, fpstate_base_bytes, SIGUSR1);
}

TEST(base_simd_registers_survive_without_the_other_records)
{
#ifdef __aarch64__
	drop_records = 1;
	check_simd(fpstate_base, fpstate_base_bytes, SIGUSR1);
	drop_records = 0;
#else
	SKIP("x86-64's frames have no records");
#endif
}

/* The kernel's write of the frame fails: registers do not change. */
TEST(base_simd_registers_survive_a_frame_with_a_hole)
{
	check_simd_with_hole(fpstate_base, fpstate_base_bytes);
}

/* From here on the program has used wide registers. */
TEST(wide_simd_registers_survive_a_handler)
{
	if (fpstate_wide_bytes() == 0)
		SKIP("this CPU has no registers wider than the base");
	check_simd(fpstate_wide, fpstate_wide_bytes(), SIGUSR1);
}

TEST(wide_simd_registers_survive_a_frame_with_a_hole)
{
	if (fpstate_wide_bytes() == 0)
		SKIP("this CPU has no registers wider than the base");
	check_simd_with_hole(fpstate_wide, fpstate_wide_bytes());
}

/* Overwrite the stack, but not x86-64's red zone below its pointer. */
static void
overwrite_stack(int sig, siginfo_t *si, void *uc)
{
	volatile char much[2048];

	memset((char *)much, 0xff, sizeof much);
}

static long __attribute__((noinline)) leaf_sum(long n)
{
	volatile long a[12];
	long i, sum = 0;

	for (i = 0; i < 12; i++)
		a[i] = i + n;
#ifdef __x86_64__
	long ret;

	/* A call that uses no stack, so the red zone stays in use. */
	__asm__ volatile(
	    "syscall"
	    : "=a"(ret)
	    : "0"((long)SYS_tkill), "D"((long)n), "S"((long)SIGUSR1)
	    : "rcx", "r11", "memory");
#endif
	for (i = 0; i < 12; i++)
		sum += a[i] - n;
	return sum;
}

TEST(the_red_zone_stays_intact)
{
	install_handler(SIGUSR1, overwrite_stack, 0);
	EXPECT_EQ(leaf_sum(getpid()), 66);
}

/* Hostile frames */

#ifdef __aarch64__
#define FLAGS     pstate
#define EL1H      0x5
#define DAIF      0x3c0
#define PRIVILEGE (DAIF | EL1H)
#endif

static volatile int hostile_step, faults;

static void
damage_frame(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	if (sig == SIGSEGV) {
		faults++;
		siglongjmp(out, 1);
	}
	calls++;
#ifdef __aarch64__
	struct fpsimd_context *fp = (void *)uc->uc_mcontext.__reserved;

	switch (hostile_step) {
	case 0:
		uc->uc_mcontext.pstate |= EL1H;
		break;
	case 1:
		uc->uc_mcontext.pstate |= 0x10;
		break; /* AArch32 */
	case 2:
		uc->uc_mcontext.pc = 0xffffffff80000000;
		break;
	case 3:
		fp->head.size = 8;
		break;
	case 4:
		fp->head.size = 0xfffffff0;
		break;
	case 5:
		fp->head.magic = 0x12345678;
		break;
	case 6:
		fp->head.magic = fp->head.size = 0;
		break;
	case 7:
		fp->head.size = 0;
		break;
	}
#else
	char *fp = (char *)uc->uc_mcontext.fpregs;

	switch (hostile_step) {
	case 0:
		uc->uc_mcontext.gregs[REG_RIP] = 0x8000000000000000;
		break;
	case 1:
		uc->uc_mcontext.gregs[REG_RIP] = 0x7ffffffff000;
		break;
	case 2:
		uc->uc_mcontext.fpregs = (void *)0x1000;
		break;
	case 3:
		uc->uc_mcontext.fpregs = (void *)0xffffffff80000000;
		break;
	case 4:
		uc->uc_mcontext.fpregs = (void *)(fp + 8);
		break;
	case 5:
		uc->uc_mcontext.fpregs = (void *)(uintptr_t)0x7ffffffff000;
		break;
	case 6:
		memset(fp + 512, 0xff, 64);
		break; /* the XSAVE header */
	case 7:
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)0xffffffff80000000;
	}
#endif
}

TEST(a_damaged_frame_is_a_segmentation_fault)
{
	install_handler(SIGUSR1, damage_frame, 0);
	install_handler(SIGSEGV, damage_frame, 0);
	for (hostile_step = 0; hostile_step < 8; hostile_step++) {
#ifdef __x86_64__
		/* Without XSAVE the frame has no such header. */
		if (hostile_step == 6 && fpstate_wide_bytes() == 0)
			continue;
#endif
		if (sigsetjmp(out, 1) == 0) {
			raise(SIGUSR1);
			test_note(
			    "step %d: the program continued", hostile_step);
			EXPECT(!"the kernel accepted the frame");
		}
	}
	EXPECT(calls >= 7);
	signal(SIGSEGV, SIG_DFL);
}

static void
ask_for_privilege(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	calls++;
#ifdef __x86_64__
	/* IOPL, IF off, NT, VM, VIF, VIP; and the kernel's segments */
	uc->uc_mcontext.gregs[REG_EFL] |= 0x1a7000;
	uc->uc_mcontext.gregs[REG_EFL] &= ~0x200LL;
	uc->uc_mcontext.gregs[REG_CSGSFS] = 0x0010000000000008LL;
#else
	(void)uc;
#endif
}

TEST(flags_and_segments_are_not_the_programs_to_set)
{
#ifdef __x86_64__
	uint64_t before, after;

	if (payload_privilege() == PAYLOAD_SYSTEM)
		SKIP("at system privilege a program may set some of them");
	install_handler(SIGUSR1, ask_for_privilege, 0);
	__asm__ volatile("pushfq; popq %0" : "=r"(before));
	raise(SIGUSR1);
	__asm__ volatile("pushfq; popq %0" : "=r"(after));
	EXPECT_EQ(calls, 1);
	EXPECT_EQ(after & 0x3f7300, before & 0x3f7300);
#else
	(void)ask_for_privilege;
	SKIP("needs x86-64: on arm64 such a frame counts as damaged");
#endif
}

TEST(sigreturn_without_a_frame_is_a_segmentation_fault)
{
	static char altstack[4 * SIGSTKSZ];
	stack_t ss = { .ss_sp = altstack, .ss_size = sizeof altstack };

	sigaltstack(&ss, NULL);
	install_handler(SIGSEGV, damage_frame, SA_ONSTACK);
	faults = 0;
	if (sigsetjmp(out, 1) == 0) {
#ifdef __x86_64__
		__asm__ volatile("mov $16, %%rsp; mov $15, %%eax; syscall"
				 :
				 :
				 : "memory");
#else
		__asm__ volatile("mov sp, %0; mov x8, #139; svc #0"
				 :
				 : "r"(32L)
				 : "x8", "memory");
#endif
		EXPECT(!"the program continued");
	}
	EXPECT_EQ(faults, 1);
	signal(SIGSEGV, SIG_DFL);
}
