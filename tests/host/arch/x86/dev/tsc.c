/*
 * The rate of the TSC is known from two sources, or marked.  If a clock
 * contradicts what CPUID or a hypervisor states, the clock is believed.
 *
 * Each reading takes time, as on hardware.  The TSC runs at true_hz.
 */
#include "tests/lib/host/support.h"

#include <string.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/dev/refclock.h"
#include "arch/x86/dev/timer.h"
#include "arch/x86/insn.h"
#include "arch/x86/x86.h"

#define HPET_HZ 14318180
#define PM_HZ   3579545
#define PIT_HZ  1193182

struct x86_apic x86_apic = { .xa_x2 = true };
struct x86_features x86_features;

static uint64_t now_ns, true_hz;
static uint64_t hyperv_hz; /* of MSR 40000022H; 0: #GP */
static struct cpuid_regs leaf_15, leaf_21, leaf_hv_interface, leaf_hv_features;
static struct refclock clocks[REFCLOCKS];
static unsigned nclocks;

static uint64_t
ticks(uint64_t hz)
{
	return muldiv(now_ns, hz, 1000000000);
}

uint64_t
rdtsc(void)
{
	now_ns += 10;
	return ticks(true_hz);
}

/* The APIC's timer counts down. */
uint64_t
rdmsr(uint32_t msr)
{
	assert_int_equal(msr, IA32_X2APIC + APIC_TIMER_NOW / 16);
	now_ns += 100;
	return (uint32_t)~ticks(25000000);
}

void
wrmsr(uint32_t msr, uint64_t v)
{
	assert_int_equal(msr, IA32_X2APIC + APIC_TIMER_INIT / 16);
}

int
x86_rdmsr_safe(uint32_t msr, uint64_t *v)
{
	*v = msr == HV_X64_MSR_TSC_FREQUENCY ? hyperv_hz : 200000000;
	return hyperv_hz == 0;
}

struct cpuid_regs
cpuid(uint32_t leaf, uint32_t subleaf)
{
	switch (leaf) {
	case 0x15:
		return leaf_15;
	case 0x21:
		return leaf_21;
	case 0x40000001:
		return leaf_hv_interface;
	case 0x40000003:
		return leaf_hv_features;
	default:
		return (struct cpuid_regs){ 0 };
	}
}

static bool is_slow; /* each reading takes 2 ms, and is of its begin or end */

static uint64_t stolen_ns; /* the next reading of the HPET comes later */

static uint64_t
read_hpet(void)
{
	static unsigned n;
	uint64_t late = is_slow && n++ % 2 == 0 ? 2000000 : 0, v;

	now_ns += stolen_ns + (is_slow ? late : 500);
	stolen_ns = 0;
	v = ticks(HPET_HZ) & 0xffffffff;
	now_ns += is_slow ? 2000000 - late : 0;
	return v;
}

static uint64_t
read_pm(void)
{
	now_ns += 1000;
	return ticks(PM_HZ) & 0xffffff;
}

static uint64_t
read_pit(void)
{
	now_ns += 3000;
	return ticks(PIT_HZ) & 0xffff;
}

unsigned
x86_refclock_find(struct refclock rc[REFCLOCKS])
{
	memcpy(rc, clocks, sizeof clocks);
	return nclocks;
}

/* A machine with the clocks that it has, and a TSC at hz. */
static void
start(unsigned n, uint64_t hz)
{
	memset(&x86_rates, 0, sizeof x86_rates);
	memset(&leaf_15, 0, sizeof leaf_15);
	memset(&leaf_21, 0, sizeof leaf_21);
	memset(&leaf_hv_interface, 0, sizeof leaf_hv_interface);
	memset(&leaf_hv_features, 0, sizeof leaf_hv_features);
	hyperv_hz = 0;
	now_ns = 123456789;
	true_hz = hz;
	nclocks = n;
	clocks[0] =
	    (struct refclock){ "HPET", HPET_HZ, 0xffffffff, 200, read_hpet };
	clocks[1] = (struct refclock){ "the ACPI PM timer", PM_HZ, 0xffffff,
		100, read_pm };
}

static void
state_by_leaf_15(uint64_t hz)
{
	leaf_15 =
	    (struct cpuid_regs){ 2, (uint32_t)(hz / 12000000), 24000000, 0 };
}

static void
assert_near(uint64_t hz, uint64_t is, uint64_t ppm)
{
	assert_in_range(hz, is - is / 1000000 * ppm, is + is / 1000000 * ppm);
}

TEST(a_clock_confirms_what_is_stated)
{
	start(2, 2400000000);
	state_by_leaf_15(2400000000);
	x86_rates_init(true);
	assert_int_equal(x86_rates.tsc_hz, 2400000000);
	assert_string_equal(x86_rates.source, "CPUID.15H");
	assert_string_equal(x86_rates.witness, "HPET");
	assert_int_equal(x86_rates.doubt_hz, 0);
	assert_near(x86_rates.apic_hz, 25000000, 2000);
}

/* Bochs: CPUID.15H has the rate of a CPU, and the TSC another. */
TEST(a_clock_overrules_what_is_stated)
{
	start(2, 50000000);
	state_by_leaf_15(2400000000);
	x86_rates_init(false);
	assert_near(x86_rates.tsc_hz, 50000000, 300);
	assert_string_equal(x86_rates.source, "HPET");
	assert_string_equal(x86_rates.witness, "CPUID.15H");
	assert_int_equal(x86_rates.doubt_hz, 2400000000);
}

/* 0.5 % may be the error of the check; 2 % are not. */
TEST(a_small_difference_is_none)
{
	start(1, 2412000000);
	state_by_leaf_15(2400000000);
	x86_rates_init(false);
	assert_int_equal(x86_rates.tsc_hz, 2400000000);
	assert_int_equal(x86_rates.doubt_hz, 0);
	start(1, 2448000000);
	state_by_leaf_15(2400000000);
	x86_rates_init(false);
	assert_near(x86_rates.tsc_hz, 2448000000, 300);
	assert_int_equal(x86_rates.doubt_hz, 2400000000);
}

TEST(without_a_clock_it_is_marked)
{
	start(0, 2400000000);
	state_by_leaf_15(2400000000);
	x86_rates_init(false);
	assert_int_equal(x86_rates.tsc_hz, 2400000000);
	assert_null(x86_rates.witness);
	assert_int_equal(x86_rates.error_ppm, 0);
}

/* There the APIC's timer has the crystal's 25 MHz, and no other clock is. */
TEST(the_timer_of_a_trust_domain_is_no_clock)
{
	start(0, 2400000000);
	leaf_15 = (struct cpuid_regs){ 1, 96, 25000000, 0 };
	leaf_21 = (struct cpuid_regs){ 0, 0x65746e49, 0x20202020, 0x5844546c };
	strcpy(x86_features.hypervisor, "KVMKVMKVM");
	x86_rates_init(true);
	x86_features.hypervisor[0] = '\0';
	assert_int_equal(x86_rates.tsc_hz, 2400000000);
	assert_int_equal(x86_rates.doubt_hz, 0);
	assert_near(x86_rates.apic_hz, 25000000, 300);
}

TEST(a_second_clock_checks_the_first)
{
	start(2, 3000000000);
	x86_rates_init(false);
	assert_near(x86_rates.tsc_hz, 3000000000, 300);
	assert_string_equal(x86_rates.source, "HPET");
	assert_string_equal(x86_rates.witness, "the ACPI PM timer");
	assert_int_equal(x86_rates.doubt_hz, 0);
	/* The HPET says that it runs at twice its rate. */
	start(2, 3000000000);
	clocks[0].hz *= 2;
	x86_rates_init(false);
	assert_near(x86_rates.tsc_hz, 6000000000, 300);
	assert_near(x86_rates.doubt_hz, 3000000000, 5000);
	/* It is the only one. */
	start(1, 3000000000);
	x86_rates_init(true);
	assert_near(x86_rates.tsc_hz, 3000000000, 300);
	assert_null(x86_rates.witness);
	assert_near(x86_rates.apic_hz, 25000000, 2000);
}

/* Values of Azure, from Microsoft's specification. */
TEST(hyperv_states_both_rates)
{
	start(1, 2095195000);
	hyperv_hz = 2095195000;
	leaf_hv_interface.a = 0x31237648;
	leaf_hv_features =
	    (struct cpuid_regs){ 0x2e7f, 0x3b8030, 2, 0xbed7b2 | 1 << 8 };
	leaf_hv_features.a |= 1 << 11;
	x86_rates_init(true);
	assert_int_equal(x86_rates.tsc_hz, 2095195000);
	assert_int_equal(x86_rates.apic_hz, 200000000);
	assert_string_equal(x86_rates.source, "MSR 40000022H");
	assert_string_equal(x86_rates.witness, "HPET");
	/* Each of the three conditions counts. */
	for (unsigned i = 0; i < 3; i++) {
		start(1, 2095195000);
		hyperv_hz = 2095195000;
		leaf_hv_interface.a = i == 0 ? 0x4d4b : 0x31237648;
		leaf_hv_features.a = i == 1 ? 0 : 1 << 11;
		leaf_hv_features.d = i == 2 ? 0 : 1 << 8;
		x86_rates_init(false);
		assert_string_equal(x86_rates.source, "HPET");
	}
}

/* As an HPET in a guest of a guest.  Its error is known, so no one lies. */
TEST(a_slow_clock_is_not_accused)
{
	for (unsigned i = 0; i < 4; i++) {
		start(2, 3000000000);
		is_slow = true;
		if (i % 2 != 0)
			state_by_leaf_15(3000000000);
		x86_rates_init(false);
		is_slow = false;
		assert_non_null(x86_rates.witness);
		assert_int_equal(x86_rates.doubt_hz, 0);
	}
}

/* A hypervisor paused the CPU for more than the PIT's 55 ms. */
TEST(a_clock_that_wrapped_is_no_witness)
{
	for (unsigned i = 0; i < 2; i++) {
		start(2, 3000000000);
		clocks[1] = (struct refclock){ "the PIT", PIT_HZ, 0xffff, 100,
			read_pit };
		stolen_ns = i == 0 ? 0 : 60000000;
		x86_rates_init(false);
		assert_near(x86_rates.tsc_hz, 3000000000, 300);
		assert_int_equal(x86_rates.doubt_hz, 0);
		assert_int_equal(x86_rates.witness != NULL, i == 0);
	}
}
