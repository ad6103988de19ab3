/*
 * What tests of libcpc in the image start from.  Included by
 * tests/image/cpc_*.c, whose tests cite the assertions of the contract.
 */
#ifndef TESTS_LIB_IMAGE_CPC_TEST_H
#define TESTS_LIB_IMAGE_CPC_TEST_H

#include <errno.h>
#include <libcpc.h>

#include "tests/lib/image/test.h"

/*
 * Define a test with a handle of its own, which is closed behind it: and the
 * program's last test sees what that leaves.  Where there is no PMU it says
 * SKIP.
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

/* The call fails, with that errno and without or with a report. */
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

/* What the error handler of test_cpc_open()'s handles was last told. */
extern struct test_detail {
	int calls;
	int subcode;
	const char *fn;
	char text[256];
} test_detail;

/* A handle whose error handler notes, or NULL. */
cpc_t *test_cpc_open(void);

/* The flag that counts this program's own code: it may run at ring 0 / EL1. */
uint_t own_privilege(void);

/* By QEMU, whose clock goes on by instructions: what it does is exact. */
bool emulated(void);

bool have_event(cpc_t *cpc, const char *event);
/* Not every PIC counts every event: fixed ones of Intel count their own. */
bool pic_counts(cpc_t *cpc, const char *event, uint64_t pic);

/*
 * Does a PIC count what all CPUs retire?  QEMU's do on arm64 where an
 * overflow interrupts by a helper PIC alone; with one CPU that is exact.
 */
bool counts_all_cpus(cpc_t *cpc);

/* Plainest forms, which expect success. */
int add_flags(cpc_t *cpc, cpc_set_t *set, const char *event, uint_t flags);
int add(cpc_t *cpc, cpc_set_t *set, const char *event); /* own privilege */
int add_preset(cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t preset);
int add_pic(
    cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t pic, uint_t flags);
cpc_set_t *set_of(cpc_t *cpc, const char *event);
/* The value of a request of a bound set, now. */
uint64_t sampled(cpc_t *cpc, cpc_set_t *set, int index);

/*
 * The machine's read of a PIC from the program's own privilege; and does that
 * of PIC 0 fault, by SIGILL on arm64 and SIGSEGV on x86?
 */
uint64_t pic_read(unsigned index);
bool direct_read_faults(void);

/*
 * Is it one of the events that our emulators count?  The codes are the PMU's:
 * Arm's instructions and cycles; x86's, reference cycles and branches as well.
 * Counter mask and INV are modelled with all but reference cycles, edges with
 * none.
 */
bool emulator_models(uint64_t code);
/* Does the emulator itself say so?  docs/x86.md */
bool emulator_lists(void);

/* The code by which general PICs count what a fixed one does. */
uint64_t general_code(uint64_t code);

/* Two instructions an iteration, and a constant number around them. */
void spin_loop(uint64_t iterations);
#define SPIN_INSNS 2

/*
 * The same, and a software PMU is told of the iterations: to it they are all
 * the program retires.
 */
void spin(uint64_t iterations);
/*
 * What two requests of the bound set count of so many iterations and of two
 * samples; a first round, not counted, has looked at everything before.
 */
void spin_counted(
    cpc_t *cpc, cpc_set_t *set, uint64_t iterations, uint64_t *value);

/* Bind this LWP to the CPU, or with PBIND_NONE to none. */
void go_to(int cpu);
/* Run fn(arg) as another LWP, to its end. */
void as_another_lwp(void *(*fn)(void *), void *arg);

/* Known instructions, on top of an unknown but constant number. */
void work(void);

/* Is the PMU software (pmu=software)?  As of the last test_cpc_open(). */
extern bool software_pmu;
/* Tell it that n instructions have retired at this privilege. */
void retire(uint64_t n, uint_t privilege);

/* The event every test that needs one counts: retired or cycles. */
#define ANY_EVENT "PAPI_tot_cyc"
#define INS_EVENT "PAPI_tot_ins"

/* What tests of the instruction at which an overflow stops ask for. */
#define NEEDS_EXACT_OVERFLOW()                                                 \
	do {                                                                   \
		if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)         \
			SKIP("overflows do not interrupt here");               \
		if (!have_event(cpc, INS_EVENT))                               \
			SKIP("this PMU does not count " INS_EVENT);            \
		if (counts_all_cpus(cpc))                                      \
			SKIP("QEMU's counters count what all of its CPUs "     \
			     "retire");                                        \
	} while (0)

/* An overflow stops its set in the kernel, too, not only at its end. */
#ifdef __x86_64__
#define STOPS_KERNEL true
#else
#define STOPS_KERNEL false
#endif

/*
 * Can a request for the event alone be bound?  False for an event that an
 * emulator does not model; cpc_models holds which those are.
 */
bool can_bind(cpc_t *cpc, const char *event);

#endif /* TESTS_LIB_IMAGE_CPC_TEST_H */
