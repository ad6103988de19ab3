/* Helpers for tests of libcpc (CPC-...) in the image, which include this. */
#pragma once

#include <libcpc.h>

#include "tests/lib/image/test.h"

/*
 * Define a test that gets a handle of its own.  The handle is closed after the
 * test, and the program's last test checks that nothing is left.  Without a
 * PMU the test reports SKIP.
 */
#define CPC_TEST(name)                                                         \
	static void cpc_test_##name(cpc_t *cpc);                               \
	TEST(name)                                                             \
	{                                                                      \
		cpc_t *cpc = test_cpc_open();                                  \
                                                                               \
		if (cpc == NULL)                                               \
			SKIP("no usable PMU here");                            \
		cpc_test_##name(cpc);                                          \
		cpc_close(cpc);                                                \
	}                                                                      \
	static void __attribute__((unused))                                    \
	cpc_test_##name(cpc_t *cpc __attribute__((unused)))

/*
 * The call fails with errno e.  SILENT: the error handler is not called.
 * REPORTED: it is called once, by this function, with this subcode.
 */
#define EXPECT_SILENT(call, e)                                                 \
	do {                                                                   \
		test_detail.calls = 0;                                         \
		EXPECT_ERRNO(call, e);                                         \
		EXPECT_EQ(test_detail.calls, 0);                               \
	} while (0)
#define EXPECT_REPORTED(call, e, function, code)                               \
	do {                                                                   \
		test_detail.calls = 0;                                         \
		EXPECT_ERRNO(call, e);                                         \
		EXPECT_EQ(test_detail.calls, 1);                               \
		EXPECT_EQ(test_detail.subcode, code);                          \
		EXPECT(strcmp(test_detail.fn, function) == 0);                 \
	} while (0)

/* The last report to the error handler of a handle from test_cpc_open(). */
extern struct test_detail {
	int calls;
	int subcode;
	const char *fn;
	char text[256];
} test_detail;

/* A handle whose error handler fills test_detail, or NULL without a PMU. */
cpc_t *test_cpc_open(void);

/* The flag that counts this program's own code, also at ring 0 or EL1. */
uint_t own_privilege(void);

/* Does QEMU emulate the CPUs, whose clock then counts instructions? */
bool emulated(void);

bool have_event(cpc_t *cpc, const char *event);
/* Can this PIC count the event?  A fixed PIC of Intel has one only. */
bool pic_counts(cpc_t *cpc, const char *event, uint64_t pic);

/* Short forms that expect success. */
int add_flags(cpc_t *cpc, cpc_set_t *set, const char *event, uint_t flags);
int add(cpc_t *cpc, cpc_set_t *set, const char *event); /* own privilege */
int add_preset(cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t preset);
int add_pic(
    cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t pic, uint_t flags);
cpc_set_t *set_of(cpc_t *cpc, const char *event);
/* Sample the bound set and return the count of one request. */
uint64_t sampled(cpc_t *cpc, cpc_set_t *set, int index);

/*
 * Read a PIC by the machine's own instruction, at the program's privilege.
 *
 * direct_read_faults(): does that read of PIC 0 fault?  The signal is SIGILL
 * on arm64 and SIGSEGV on x86.
 */
uint64_t pic_read(unsigned index);
bool direct_read_faults(void);

/*
 * Do our emulators count the event that has this code?  On arm64 QEMU
 * announces its events.  On x86 they are instructions, cycles, reference
 * cycles, branches and Intel's offcore responses.  Counter mask and INV work
 * with all of them but reference cycles, edge detection with none.
 */
bool emulator_models(uint64_t code);
/* Does the emulator itself list the events that it models?  See docs/x86.md. */
bool emulator_lists(void);

/* The code by which general PICs count the event of a fixed PIC. */
uint64_t general_code(uint64_t code);

/* Runs two instructions an iteration, and a constant number around them. */
void spin_loop(uint64_t iterations);
/* The same file: a hint on which an emulator lets another CPU run. */
void give_turn(void);
#define SPIN_INSNS 2

/*
 * For a function with a counted window.  The compiler makes no copy of it for
 * the caller's arguments, which could have other instructions in the window.
 */
#define ONE_COPY __attribute__((noipa))

/* Run spin_loop(), and tell a software PMU, which counts no others. */
void spin(uint64_t iterations);
/*
 * Put into value[] the counts of the bound set's two requests for so many
 * iterations and two samples.  An uncounted first round touches all code and
 * data before.
 */
void spin_counted(
    cpc_t *cpc, cpc_set_t *set, uint64_t iterations, uint64_t *value);

/* The count of the bound set's first request for so many iterations. */
uint64_t spin_sampled(
    cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, uint64_t iterations);
/*
 * Does the bound set's request count instructions exactly?  The difference of
 * SPIN_LONG and SPIN_SHORT iterations cancels what the samples retire.
 */
void expect_exact_spin(cpc_t *cpc, cpc_set_t *set);
#define SPIN_SHORT 50
#define SPIN_LONG  250

/* The last CPU, while all are online. */
int last_cpu(void);
/* Bind this LWP to the CPU, or unbind it with PBIND_NONE. */
void go_to(int cpu);
/* Run fn(arg) in another LWP and wait for its end. */
void as_another_lwp(void *(*fn)(void *), void *arg);

/* Run a constant number of instructions, of which 20,000 are in spin_loop(). */
void work(void);

/* Can a program read PICs without a system call? */
bool direct_reads(void);
#define NEEDS_DIRECT_READS()                                                   \
	do {                                                                   \
		if (!direct_reads())                                           \
			SKIP("programs cannot read PICs here: KVM on arm64 "   \
			     "traps each read, and a software PMU has none");  \
	} while (0)

/* Was the PMU of the last test_cpc_open() a software PMU (pmu=software)? */
extern bool software_pmu;
/* Tell the software PMU that n instructions have retired at this privilege. */
void retire(uint64_t n, uint_t privilege);

/* The events that most tests count.  Every PMU counts cycles. */
#define ANY_EVENT "PAPI_tot_cyc"
#define INS_EVENT "PAPI_tot_ins"

/* Skip the test unless instructions are counted. */
#define NEEDS_INSTRUCTIONS()                                                   \
	do {                                                                   \
		if (!have_event(cpc, INS_EVENT))                               \
			SKIP("this PMU does not count " INS_EVENT);            \
	} while (0)

/* Skip it unless they are counted exactly: without the kernel's work. */
#define NEEDS_USER_INSTRUCTIONS()                                              \
	do {                                                                   \
		if (own_privilege() != CPC_COUNT_USER)                         \
			SKIP("this test needs user privilege");                \
		NEEDS_INSTRUCTIONS();                                          \
	} while (0)

/* Skip the test unless an overflow stops the set at a known instruction. */
#define NEEDS_EXACT_OVERFLOW()                                                 \
	do {                                                                   \
		if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)         \
			SKIP("overflows do not interrupt here");               \
		NEEDS_INSTRUCTIONS();                                          \
	} while (0)

#define NEEDS_TWO_CPUS()                                                       \
	do {                                                                   \
		if (last_cpu() == 0)                                           \
			SKIP("this test needs two CPUs");                      \
	} while (0)

/* Does an overflow in the kernel stop the set there, not at the return? */
#ifdef __x86_64__
#define STOPS_KERNEL true
#else
#define STOPS_KERNEL false
#endif

/*
 * Can a set with this one request be bound?  False for an event that an
 * emulator does not model.  The test cpc_models checks which events these are.
 */
bool can_bind(cpc_t *cpc, const char *event);
