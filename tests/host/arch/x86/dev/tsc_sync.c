/*
 * The TSCs of two CPUs are compared, and made equal where IA32_TSC_ADJUST
 * exists.  The CPUs are threads, which may lose their processor for a while. So
 * the comparison must be right within the error that it states.
 */
#include "tests/lib/host/support.h"

#include <string.h>
#include <threads.h>
#include <time.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/dev/timer.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"

#define SECOND 1000000000LL

unsigned ncpu = 2;

static bool adjustable;
static __thread int64_t ahead, adjust; /* of the CPU that this thread is */

static int64_t left;  /* of the other CPU in the end */
static int64_t plant; /* ahead and adjust of the other CPU in the beginning */
static int64_t plant_adjust;
static struct cpu cpu = { .c_id = 1 };

uint64_t
rdtsc(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)(ts.tv_sec * SECOND + ts.tv_nsec + ahead + adjust);
}

static bool faults; /* the register is announced, and raises #GP */

int
x86_rdmsr_safe(uint32_t msr, uint64_t *v)
{
	assert_true(adjustable);
	assert_int_equal(msr, IA32_TSC_ADJUST);
	*v = (uint64_t)adjust;
	return faults;
}

int
x86_wrmsr_safe(uint32_t msr, uint64_t v)
{
	assert_true(adjustable && !faults);
	assert_int_equal(msr, IA32_TSC_ADJUST);
	adjust = (int64_t)v;
	return 0;
}

struct cpuid_regs
cpuid(uint32_t leaf, uint32_t subleaf)
{
	assert_int_equal(leaf, 7);
	return (struct cpuid_regs){ .b = adjustable ? 1 << 1 : 0 };
}

uint64_t
arch_tick_hz(void)
{
	return SECOND;
}

/* A CPU whose TSC is ahead would find that the run's deadline has passed. */
static bool looked_at_deadline;

static void
let_others_run(void)
{
	looked_at_deadline |= ahead > 0;
	thrd_yield();
}

static int
other_cpu(void *arg)
{
	ahead = plant;
	adjust = plant_adjust;
	x86_tsc_answer(&cpu);
	left = ahead + adjust;
	return 0;
}

static void
start_cpu(bool has_msr, int64_t by, int64_t by_adjust)
{
	thrd_t thread;

	fake_on_relax = let_others_run;
	adjustable = has_msr;
	plant = by;
	plant_adjust = by_adjust;
	memset(&x86_tsc, 0, sizeof x86_tsc);
	x86_tsc_init();
	x86_tsc_expect(&cpu);
	assert_int_equal(thrd_create(&thread, other_cpu, NULL), thrd_success);
	x86_tsc_compare(&cpu, true);
	assert_int_equal(thrd_join(thread, NULL), thrd_success);
}

static uint64_t
magnitude(int64_t v)
{
	return (uint64_t)(v < 0 ? -v : v);
}

TEST(equal_ones_are_left_alone)
{
	for (unsigned i = 0; i < 20; i++) {
		start_cpu(i % 2 != 0, 0, 0);
		assert_false(x86_tsc.unequal || x86_tsc.unknown);
		assert_false(cpu.c_skewed);
		assert_true(x86_tsc.error > 0);
		assert_int_equal(left, 0);
	}
}

TEST(a_difference_is_mended)
{
	static const int64_t by[] = { SECOND, -SECOND, 300 * SECOND, -7 };

	looked_at_deadline = false;
	for (unsigned i = 0; i < 4; i++) {
		start_cpu(true, by[i], 0);
		assert_false(x86_tsc.unequal || x86_tsc.unknown);
		assert_in_range(magnitude(left), 0, x86_tsc.error);
		/* Firmware wrote the register of one CPU alone. */
		start_cpu(true, 0, by[i]);
		assert_false(x86_tsc.unequal || x86_tsc.unknown);
		assert_in_range(magnitude(left), 0, x86_tsc.error);
	}
	assert_false(looked_at_deadline);
}

TEST(without_the_register_it_is_marked)
{
	start_cpu(false, SECOND, 0);
	assert_true(x86_tsc.unequal && cpu.c_skewed);
	assert_int_equal(left, SECOND);
	start_cpu(false, -SECOND, 0);
	assert_true(x86_tsc.unequal && !cpu.c_skewed);
}

/* A hypervisor announces the register, and does not have it. */
TEST(a_register_that_faults_is_not_used)
{
	faults = true;
	start_cpu(true, SECOND, 0);
	assert_true(x86_tsc.unequal && !x86_tsc.adjustable);
	assert_int_equal(left, SECOND);
	faults = false;
}

/* It comes too late, and its answers are not those of the next CPU. */
TEST(a_silent_cpu_is_marked)
{
	memset(&x86_tsc, 0, sizeof x86_tsc);
	x86_tsc_expect(&cpu);
	x86_tsc_compare(&cpu, true);
	assert_true(x86_tsc.unknown);
	assert_false(x86_tsc.unequal);
	assert_true(cpu.c_skewed);
	memset(&x86_tsc, 0, sizeof x86_tsc);
	x86_tsc_compare(&cpu, false); /* it has not arrived: nothing to ask */
	assert_false(x86_tsc.unknown);
	plant = 0;
	other_cpu(NULL); /* in this thread */
	start_cpu(true, SECOND, 0);
	assert_false(x86_tsc.unequal || x86_tsc.unknown);
	assert_in_range(magnitude(left), 0, x86_tsc.error);
}
