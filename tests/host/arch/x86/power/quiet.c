/* Each item of quiet= changes its register until the end, or says it cannot. */
#include "tests/lib/host/support.h"

#include <string.h>

#include "arch/x86/msr.h"
#include "arch/x86/pmu/regs.h"
#include "arch/x86/power/power.h"
#include "arch/x86/power/regs.h"
#include "kern/platform/command/quiet_word.h"
#include "tests/lib/host/x86/fake_regs.h"

#define ALL ~0ULL
#define INTEL(m)                                                               \
	{                                                                      \
		.vendor = "GenuineIntel", .family = 6, .model = (m)            \
	}
#define AMD(f)                                                                 \
	{                                                                      \
		.vendor = "AuthenticAMD", .family = (f)                        \
	}

/* Skylake without HWP: SpeedStep, turbo, and the registers of the model. */
static const struct fake_part skylake = {
	INTEL(0x5e),
	{ { 1, { .c = 1 << 7 | 1 << 15, .d = 1 << 22 } }, { 6, { .a = 2 } } },
	{ { MSR_PLATFORM_INFO, 0x80838f1012200, 0, 0 },
	    { IA32_PERF_CTL, 0x2a00, ALL, 0 },
	    { IA32_PERF_STATUS, 0x2a00, 0, 0 },
	    { IA32_MISC_ENABLE, 0x850089, ALL, 0 },
	    { MSR_MISC_FEATURE_CONTROL, 0, 0xf, 0 },
	    { MSR_POWER_CTL, 0x24005b, ALL, 0 },
	    { IA32_PERF_CAPABILITIES, 0x33c5, 0, 0 },
	    { IA32_DEBUGCTL, 1, ALL, 0 } },
};

/* The same in HWP mode: levels 0x2a to 8, 0x22 guaranteed, by the package. */
static const struct fake_part skylake_hwp = {
	INTEL(0x5e),
	{ { 1, { .c = 1 << 7 } }, { 6, { .a = 0x982, .c = 8 } } },
	{ { IA32_PM_ENABLE, 1, 0, 0 },
	    { IA32_HWP_CAPABILITIES, 0x0814222a, 0, 0 },
	    { IA32_HWP_REQUEST, 0x48000002a08, ALL, 0 },
	    { IA32_HWP_REQUEST_PKG, 0x80002a08, ALL, 0 },
	    { IA32_HWP_INTERRUPT, 0, ALL, 0 }, { IA32_HWP_STATUS, 0, 0, 0 },
	    { IA32_ENERGY_PERF_BIAS, 6, 0xf, 0 },
	    { IA32_PERF_CTL, 0x2a00, ALL, 0 },
	    { IA32_PERF_STATUS, 0x2a00, 0, 0 },
	    { IA32_MISC_ENABLE, 0x850089, ALL, 0 },
	    { MSR_MISC_FEATURE_CONTROL, 0, 0xf, 0 },
	    { MSR_POWER_CTL, 0x24005b, ALL, 0 } },
};

/* Zen 4: P-states, boost, CPPC, CC6, prefetchers. */
static const struct fake_part zen4 = {
	AMD(0x19),
	{ { 0x80000007, { .d = 1 << 7 | 1 << 9 } },
	    { 0x80000008, { .b = 1 << 27 } },
	    { 0x80000021, { .a = 1 << 13 } } },
	{ { AMD_HWCR, 0x9000011, ALL, 0 }, { AMD_PSTATE_CONTROL, 2, 7, 0 },
	    { AMD_PSTATE_STATUS, 2, 0, 0 }, { AMD_CPPC_ENABLE, 1, 1, 0 },
	    { AMD_CPPC_CAPABILITY, 0xa67b4614, 0, 0 },
	    { AMD_CPPC_REQUEST, 0x7f0014a6, ALL, 0 },
	    { AMD_PREFETCH_CONTROL, 0x3c0, ALL, 0 },
	    { AMD_CSTATE_CONFIG, 0x48484848, ALL, 0 } },
};

/* Family 10h, whose HLT ends in C1E.  The other bits are an I/O port. */
static const struct fake_part k10 = {
	AMD(0x10),
	{ { 0x80000007, { .d = 1 << 7 } } },
	{ { AMD_HWCR, 0x11, ALL, 0 }, { AMD_PSTATE_CONTROL, 3, 7, 0 },
	    { AMD_PSTATE_STATUS, 3, 0, 0 },
	    { AMD_INTERRUPT_PENDING, 0x14000814, ALL, 0 } },
};

static struct x86_power pw;
static const char *said;

static void
start(const struct fake_part *part)
{
	fake_part(part);
	memset(&pw, 0, sizeof pw);
	x86_power_init(&pw);
	assert_int_equal(fake_faults, 0);
}

/* The item changes the register to this value; the end restores it. */
static void
expect(
    const struct fake_part *part, unsigned item, uint32_t msr, uint64_t value)
{
	start(part);
	assert_true(x86_quiet(&pw, item, &said));
	assert_true(fake_reg(msr)->value == value);
	x86_quiet_end(&pw);
	assert_true(fake_is_as_was(part));
	assert_int_equal(fake_faults, 0);
}

static void
expect_none(const struct fake_part *part, unsigned item, const char *why)
{
	start(part);
	assert_false(x86_quiet(&pw, item, &said));
	assert_string_equal(said, why);
	x86_quiet_end(&pw);
	assert_true(fake_is_as_was(part));
}

TEST(intel_registers_change_and_return)
{
	expect(&skylake, QUIET_FREQ, IA32_PERF_CTL, 0x2200);
	expect(&skylake, QUIET_TURBO, IA32_MISC_ENABLE, 0x4000850089);
	expect(&skylake, QUIET_CSTATES, MSR_POWER_CTL, 0x240059);
	expect(&skylake, QUIET_PREFETCH, MSR_MISC_FEATURE_CONTROL, 0xf);
	expect(&skylake, QUIET_SMM, IA32_DEBUGCTL, 0x4001);
	expect(&skylake_hwp, QUIET_FREQ, IA32_HWP_REQUEST, 0x222222);
	expect_none(&skylake_hwp, QUIET_SMM,
	    "IA32_PERF_CAPABILITIES[12] is 0 or absent");
}

/* A part of this family and model has neither register for idle states. */
static void
expect_idle_as_is(unsigned family, unsigned model)
{
	struct fake_part part = { AMD(family), { { 0, { 0 } } },
		{ { AMD_HWCR, 0, ALL, 0 } } };

	part.features.model = model;
	expect_none(&part, QUIET_CSTATES,
	    "idle by HLT; no known register for the rest");
	assert_int_equal(fake_faults, 0);
}

TEST(amd_registers_change_and_return)
{
	struct fake_part old = zen4;

	expect(&zen4, QUIET_FREQ, AMD_CPPC_REQUEST, 0x7b7b7b);
	expect(&zen4, QUIET_TURBO, AMD_HWCR, 0xb000011);
	expect(&zen4, QUIET_PREFETCH, AMD_PREFETCH_CONTROL, 0x3ef);
	expect(&zen4, QUIET_CSTATES, AMD_CSTATE_CONFIG, 0x48080808);
	expect(&k10, QUIET_CSTATES, AMD_INTERRUPT_PENDING, 0x04000814);
	expect_none(
	    &zen4, QUIET_SMM, "IA32_PERF_CAPABILITIES[12] is 0 or absent");
	/* CPPC exists, but firmware left it off. */
	old.regs[3].value = 0;
	expect(&old, QUIET_FREQ, AMD_PSTATE_CONTROL, 0);
	/* Each family has the register that its guides name. */
	expect_idle_as_is(0x15, 2);
	expect_idle_as_is(0xf, 0x3f);
	old = k10;
	old.features.family = 0xf;
	old.features.model = 0x40;
	expect(&old, QUIET_CSTATES, AMD_INTERRUPT_PENDING, 0x04000814);
}

/* All items of a part are undone, also two of one register. */
TEST(all_items_return)
{
	struct fake_part no_speedstep = skylake;

	no_speedstep.regs[3].value &= ~MISC_ENABLE_SPEEDSTEP;
	start(&no_speedstep);
	for (unsigned i = 0; i < QUIET_N; i++)
		assert_true(x86_quiet(&pw, i, &said));
	assert_true(fake_reg(IA32_MISC_ENABLE)->value == 0x4000850089);
	x86_quiet_end(&pw);
	assert_true(fake_is_as_was(&no_speedstep));
	x86_quiet_end(&pw); /* nothing is left to restore */
	assert_true(fake_is_as_was(&no_speedstep));
}

TEST(a_locked_register_is_said)
{
	static const char keeps[] = "the CPU keeps its register as it is";
	struct fake_part locked = skylake;

	locked.regs[4].writable = 0; /* a write faults */
	expect_none(&locked, QUIET_PREFETCH, keeps);
	locked.regs[4].writable = 1; /* a write is lost */
	start(&locked);
	assert_false(x86_quiet(&pw, QUIET_PREFETCH, &said));
	assert_string_equal(said, keeps);
	x86_quiet_end(&pw);
	assert_true(fake_is_as_was(&locked));
	locked = skylake;
	locked.regs[3] =
	    (struct fake_reg){ IA32_MISC_ENABLE, 0x840089, 0xffff, 0 };
	expect_none(&locked, QUIET_FREQ, "firmware locked SpeedStep, off");
	expect_none(&locked, QUIET_TURBO, keeps);
	/* Firmware turned turbo off: CPUID does not show it any more. */
	locked.regs[3].value = 0x4000850089;
	locked.leaves[1].regs.a = 0;
	expect(&locked, QUIET_TURBO, IA32_MISC_ENABLE, 0x4000850089);
}

/* A hypervisor shows the model and lacks its registers: none is touched. */
TEST(a_hypervisors_model_is_not_believed)
{
	struct fake_part guest = { INTEL(0x5e), { { 0, { 0 } } },
		{ { IA32_MISC_ENABLE, 1, ALL, 0 } } };

	guest.features.hypervised = true;
	expect_none(&guest, QUIET_FREQ, "no known register for it");
	expect_none(&guest, QUIET_TURBO, "CPUID shows no turbo");
	expect_none(&guest, QUIET_CSTATES,
	    "idle by HLT; no known register for the rest");
	expect_none(&guest, QUIET_PREFETCH, "no known register for it");
	assert_int_equal(fake_faults, 0);
}

/* The efficient cores of a hybrid part have other prefetcher bits. */
TEST(prefetchers_are_known_by_model)
{
	struct fake_part part = { INTEL(0x97),
		{ { 7, { .d = 1 << 15 } }, { 0x1a, { .a = 0x40U << 24 } } },
		{ { MSR_MISC_FEATURE_CONTROL, 0, 0x2f, 0 },
		    { IA32_MISC_ENABLE, 0, ALL, 0 },
		    { MSR_POWER_CTL, 0, 0, 0 } } };

	expect(&part, QUIET_PREFETCH, MSR_MISC_FEATURE_CONTROL, 0xf);
	part.leaves[1].regs.a = 0x20U << 24;
	expect_none(&part, QUIET_PREFETCH, "no known register for it");
	part.leaves[0].regs.d = 0;
	part.features.model = 0x5c; /* Goldmont */
	expect(&part, QUIET_PREFETCH, MSR_MISC_FEATURE_CONTROL, 0x5);
	part.features.model = 0x17; /* Core 2 */
	expect_none(&part, QUIET_PREFETCH, "no known register for it");
	part.features.family = 0xf;
	part.features.model = 0x5e;
	expect_none(&part, QUIET_PREFETCH, "no known register for it");
}
