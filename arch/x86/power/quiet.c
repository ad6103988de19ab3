/*
 * The items of quiet= on this CPU.  A register is changed only if it is known
 * to exist, and the change counts only if it can be read back.
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/pmu/regs.h"
#include "arch/x86/power/power.h"
#include "arch/x86/power/regs.h"
#include "arch/x86/x86.h"
#include "kern/platform/command/quiet_word.h"

static const char refused[] = "the CPU keeps its register as it is";

/* Set the bits of `clear` to those of `set`.  The old value is kept. */
static bool
change(struct x86_power *pw, uint32_t msr, uint64_t clear, uint64_t set)
{
	uint64_t old, now;

	if (pw->xw_nsaved == POWER_SAVED || x86_rdmsr_safe(msr, &old) != 0)
		return false;
	if ((old & clear) == set)
		return true;
	if (x86_wrmsr_safe(msr, (old & ~clear) | set) != 0)
		return false;
	pw->xw_saved[pw->xw_nsaved].msr = msr;
	pw->xw_saved[pw->xw_nsaved].bits = clear;
	pw->xw_saved[pw->xw_nsaved++].value = old & clear;
	return x86_rdmsr_safe(msr, &now) == 0 && (now & clear) == set;
}

/* change(), and what to say. */
static bool
try_change(struct x86_power *pw, uint32_t msr, uint64_t clear, uint64_t set,
    const char **said, const char *how)
{
	bool done = change(pw, msr, clear, set);

	*said = done ? how : refused;
	return done;
}

static bool
fix_intel_rate(struct x86_power *pw, const char **said)
{
	uint64_t v;

	if (x86_power_uses_hwp()) {
		*said = refused;
		/* Bits 63:32 are a window of time, and the package's part. */
		return x86_rdmsr_safe(IA32_HWP_CAPABILITIES, &v) == 0 &&
		       HWP_GUARANTEED(v) != 0 &&
		       try_change(pw, IA32_HWP_REQUEST, ~0ULL,
			   HWP_ALL(HWP_GUARANTEED(v)), said,
			   "IA32_HWP_REQUEST: the guaranteed level");
	}
	if (!x86_power_has_speedstep() || !x86_power_has_ratios() ||
	    x86_rdmsr_safe(MSR_PLATFORM_INFO, &v) != 0 ||
	    (v & PLATFORM_INFO_RATIO_BITS) == 0) {
		*said = "no known register for it";
		return false;
	}
	v &= PLATFORM_INFO_RATIO_BITS;
	if (!change(pw, IA32_MISC_ENABLE, MISC_ENABLE_SPEEDSTEP,
		MISC_ENABLE_SPEEDSTEP)) {
		*said = "firmware locked SpeedStep, off";
		return false;
	}
	return try_change(pw, IA32_PERF_CTL, PERF_CTL_TARGET_BITS, v, said,
	    "IA32_PERF_CTL: the base rate");
}

static bool
fix_amd_rate(struct x86_power *pw, const char **said)
{
	uint64_t v;

	if (x86_power_uses_cppc()) {
		*said = refused;
		return x86_rdmsr_safe(AMD_CPPC_CAPABILITY, &v) == 0 &&
		       CPPC_NOMINAL(v) != 0 &&
		       try_change(pw, AMD_CPPC_REQUEST, 0xffffffff,
			   HWP_ALL(CPPC_NOMINAL(v)), said,
			   "CPPC_REQUEST: the nominal level");
	}
	if (x86_power_has_pstates())
		return try_change(pw, AMD_PSTATE_CONTROL, PSTATE_CONTROL_BITS,
		    0, said, "P-state 0");
	*said = "no known register for it";
	return false;
}

static bool
stop_turbo(struct x86_power *pw, const char **said)
{
	uint64_t v;

	if (x86_power_is("AuthenticAMD") && cpuid_has(0x80000007, CPUID_EDX, 9))
		return try_change(pw, AMD_HWCR, HWCR_NO_BOOST, HWCR_NO_BOOST,
		    said, "HWCR.CpbDis");
	if (x86_power_is("GenuineIntel") &&
	    (cpuid_has(6, CPUID_EAX, LEAF6_EAX_TURBO) ||
		(x86_rdmsr_safe(IA32_MISC_ENABLE, &v) == 0 &&
		    (v & MISC_ENABLE_NO_TURBO) != 0)))
		return try_change(pw, IA32_MISC_ENABLE, MISC_ENABLE_NO_TURBO,
		    MISC_ENABLE_NO_TURBO, said, "IA32_MISC_ENABLE[38]");
	*said = "CPUID shows no turbo";
	return false;
}

/*
 * arch_idle() uses HLT, so that C1 is the deepest state, unless the CPU makes
 * C1E or CC6 of it.
 */
static bool
stop_cstates(struct x86_power *pw, const char **said)
{
	if (x86_power_has_ratios())
		return try_change(pw, MSR_POWER_CTL, POWER_CTL_C1E, 0, said,
		    "idle by HLT, C1E off");
	if (x86_power_has_c1e())
		return try_change(pw, AMD_INTERRUPT_PENDING,
		    INTERRUPT_PENDING_C1E, 0, said, "idle by HLT, C1E off");
	if (x86_power_has_cc6())
		return try_change(pw, AMD_CSTATE_CONFIG, CSTATE_CONFIG_CC6, 0,
		    said, "idle by HLT, CC6 off");
	*said = "idle by HLT; no known register for the rest";
	return false;
}

static bool
stop_prefetch(struct x86_power *pw, const char **said)
{
	uint64_t bits = x86_power_prefetch_bits();

	if (bits != 0)
		return try_change(pw, MSR_MISC_FEATURE_CONTROL, bits, bits,
		    said, "MSR_MISC_FEATURE_CONTROL");
	if (x86_power_has_prefetch_control())
		return try_change(pw, AMD_PREFETCH_CONTROL,
		    PREFETCH_CONTROL_OFF, PREFETCH_CONTROL_OFF, said,
		    "PrefetchControl");
	*said = "no known register for it";
	return false;
}

static bool
freeze_in_smm(struct x86_power *pw, const char **said)
{
	uint64_t v;

	if (x86_power_is("GenuineIntel") && cpuid_has(1, CPUID_ECX, 15) &&
	    x86_rdmsr_safe(IA32_PERF_CAPABILITIES, &v) == 0 &&
	    (v & PERF_CAP_FREEZE_SMM) != 0)
		return try_change(pw, IA32_DEBUGCTL, DEBUGCTL_FREEZE_SMM,
		    DEBUGCTL_FREEZE_SMM, said, "IA32_DEBUGCTL[14]");
	*said = "IA32_PERF_CAPABILITIES[12] is 0 or absent";
	return false;
}

bool
x86_quiet(struct x86_power *pw, unsigned item, const char **said)
{
	*said = "no known register for it";
	switch (item) {
	case QUIET_FREQ:
		if (x86_power_is("GenuineIntel"))
			return fix_intel_rate(pw, said);
		return x86_power_is("AuthenticAMD") && fix_amd_rate(pw, said);
	case QUIET_TURBO:
		return stop_turbo(pw, said);
	case QUIET_CSTATES:
		return stop_cstates(pw, said);
	case QUIET_PREFETCH:
		return stop_prefetch(pw, said);
	default:
		return freeze_in_smm(pw, said);
	}
}

void
x86_quiet_end(struct x86_power *pw)
{
	uint64_t now;

	/* Others may own the rest: IA32_DEBUGCTL freezes PICs, too. */
	while (pw->xw_nsaved > 0) {
		uint32_t msr = pw->xw_saved[--pw->xw_nsaved].msr;

		if (x86_rdmsr_safe(msr, &now) == 0)
			x86_wrmsr_safe(
			    msr, (now & ~pw->xw_saved[pw->xw_nsaved].bits) |
				     pw->xw_saved[pw->xw_nsaved].value);
	}
}
