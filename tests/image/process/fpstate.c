/*
 * The SIMD and floating-point registers belong to the program.  They keep their
 * values across any system call and any sleep, in the whole width that the CPU
 * has.
 *
 * The functions of tests/lib/image/ARCH/fpstate.S load all registers, make one
 * system call, and store all registers, with no other instruction between.
 */
#include "tests/lib/image/test.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#define MAXBYTES 16384

/*
 * Load every register from `load`, make the system call, store every register
 * to `store`. The base registers are in every CPU of the architecture, the wide
 * ones are all registers of this CPU.
 */
extern const size_t fpstate_base_bytes;
void fpstate_base(
    const void *load, void *store, long number, const void *a, const void *b);
size_t fpstate_wide_bytes(void); /* 0: the CPU has only the base */
void fpstate_wide(
    const void *load, void *store, long number, const void *a, const void *b);
void fpstate_wide_look(void *store); /* only store */

TEST_KEEPS(64); /* the C library keeps stacks of threads */

typedef void across_fn(
    const void *load, void *store, long number, const void *a, const void *b);

#define THEIRS 0xa7
static volatile int filled;

static void *
count_foreign_values(void *arg)
{
	static unsigned char store[MAXBYTES];
	unsigned run = 0;

	while (!filled)
		sched_yield();
	if (fpstate_wide_bytes() == 0)
		return NULL;
	fpstate_wide_look(store);
	for (size_t i = 0; i < fpstate_wide_bytes(); i++) {
		run = store[i] == THEIRS ? run + 1 : 0;
		*(unsigned *)arg += run == 8;
	}
	return NULL;
}

/*
 * This test is the first, so that neither LWP has used wide registers.  The LWP
 * that looks at them has none yet, while the other LWP's values are in the CPU.
 */
TEST(the_first_use_finds_no_value_of_another_lwp)
{
	static unsigned char theirs[MAXBYTES], store[MAXBYTES];
	unsigned seen = 0;
	pthread_t t;

	REQUIRE(pthread_create(&t, NULL, count_foreign_values, &seen) == 0);
	sched_yield();
	/* Not before: an LWP begins with the base registers of its creator. */
	memset(theirs, THEIRS, sizeof theirs);
	filled = 1;
	if (fpstate_wide_bytes() != 0)
		fpstate_wide(theirs, store, SYS_sched_yield, NULL, NULL);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(seen, 0);
}

static void
check_registers(
    across_fn *across, size_t bytes, long number, const void *a, const void *b)
{
	static _Thread_local unsigned char load[MAXBYTES], store[MAXBYTES];
	static unsigned char salt;
	size_t i;

	REQUIRE(bytes <= MAXBYTES);
	salt++;
	for (i = 0; i < bytes; i++) {
		load[i] = (unsigned char)(i * 29 + i / 256 + salt);
		store[i] = 0;
	}
	across(load, store, number, a, b);
	for (i = 0; i < bytes && store[i] == load[i]; i++)
		;
	EXPECT_EQ(i, bytes);
}

static void
check_calls(across_fn *across, size_t bytes)
{
	struct timespec ms = { 0, 1000000 }, now;

	check_registers(across, bytes, SYS_getpid, NULL, NULL);
	check_registers(
	    across, bytes, SYS_clock_gettime, (void *)CLOCK_MONOTONIC, &now);
	check_registers(across, bytes, 0x3fff, NULL, NULL);
	for (unsigned i = 0; i < 20; i++)
		check_registers(across, bytes, SYS_nanosleep, &ms, NULL);
	check_registers(across, bytes, SYS_sched_yield, NULL, NULL);
}

TEST(base_registers_survive)
{
	check_calls(fpstate_base, fpstate_base_bytes);
}

TEST(wide_registers_survive)
{
	size_t bytes = fpstate_wide_bytes();

	if (bytes == 0)
		SKIP("this CPU has no registers wider than the base");
	check_calls(fpstate_wide, bytes);
}

static void *
yield_wide(void *arg)
{
	for (int i = 0; i < 20; i++)
		check_registers(fpstate_wide, fpstate_wide_bytes(),
		    SYS_sched_yield, NULL, NULL);
	return arg;
}

static void *
yield_base(void *arg)
{
	for (int i = 0; i < 20; i++)
		check_registers(fpstate_base, fpstate_base_bytes,
		    SYS_sched_yield, NULL, NULL);
	return arg;
}

TEST(lwps_that_take_turns_keep_their_own)
{
	void *(*const fn[])(
	    void *) = { yield_base, yield_wide, yield_base, yield_wide };
	pthread_t t[4];

	if (fpstate_wide_bytes() == 0)
		SKIP("this CPU has no registers wider than the base");
	for (int i = 0; i < 4; i++)
		REQUIRE(pthread_create(&t[i], NULL, fn[i], NULL) == 0);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
}

TEST(registers_survive_a_page_fault_of_the_kernel)
{
	/* nanosleep(1, NULL): the kernel's copyin() takes a page fault. */
	check_registers(
	    fpstate_base, fpstate_base_bytes, SYS_nanosleep, (void *)1, NULL);
	if (fpstate_wide_bytes() != 0)
		check_registers(fpstate_wide, fpstate_wide_bytes(),
		    SYS_nanosleep, (void *)1, NULL);
}

TEST(the_rounding_mode_survives)
{
	struct timespec ms = { 0, 1000000 };
	volatile double one = 1.0, three = 3.0, down, up;

	EXPECT_EQ(fesetround(FE_DOWNWARD), 0);
	EXPECT_EQ(nanosleep(&ms, NULL), 0);
	EXPECT_EQ(fegetround(), FE_DOWNWARD);
	down = one / three;
	EXPECT_EQ(fesetround(FE_UPWARD), 0);
	EXPECT_EQ(nanosleep(&ms, NULL), 0);
	up = one / three;
	EXPECT(up > down);
	EXPECT_EQ(fesetround(FE_TONEAREST), 0);
}

TEST(the_exception_flags_survive)
{
	struct timespec ms = { 0, 1000000 };
	volatile double zero = 0.0, inf;

	EXPECT_EQ(feclearexcept(FE_ALL_EXCEPT), 0);
	inf = 1.0 / zero;
	EXPECT_EQ(nanosleep(&ms, NULL), 0);
	EXPECT_EQ(fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
	EXPECT(inf > 1.0);
	EXPECT_EQ(feclearexcept(FE_ALL_EXCEPT), 0);
}
