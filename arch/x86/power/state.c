/*
 * The registers of clock rate, temperature and prefetchers that this CPU has,
 * for records.  A register is read only if CPUID or the CPU's model says that
 * it exists, and by an access that survives a fault.  A hypervisor shows a
 * model and lacks the model's registers: there CPUID decides alone.
 */
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/power/power.h"
#include "arch/x86/power/regs.h"
#include "arch/x86/x86.h"
#include "lib/string.h"
#include "lib/text.h"

bool
x86_power_is(const char *vendor)
{
	return strcmp(x86_features.vendor, vendor) == 0;
}

static bool
is_intel(void)
{
	return x86_power_is("GenuineIntel");
}

static bool
is_amd(void)
{
	return x86_power_is("AuthenticAMD");
}

/* A function, which says what `if_so` says, if this bit is 1. */
#define IF_CPUID(type, name, if_so, leaf, reg, bit)                            \
	type name(void)                                                        \
	{                                                                      \
		return if_so() && cpuid_has(leaf, CPUID_##reg, bit);           \
	}
#define IF_MSR(type, name, if_so, msr, mask)                                   \
	type name(void)                                                        \
	{                                                                      \
		uint64_t v = 0;                                                \
		if (if_so())                                                   \
			x86_rdmsr_safe(msr, &v);                               \
		return (v & (mask)) != 0;                                      \
	}

IF_CPUID(bool, x86_power_has_speedstep, is_intel, 1, ECX, 7)
IF_CPUID(static bool, has_hwp, is_intel, 6, EAX, 7)
IF_MSR(bool, x86_power_uses_hwp, has_hwp, IA32_PM_ENABLE, PM_ENABLE_HWP)
IF_CPUID(static bool, uses_hwp_package, x86_power_uses_hwp, 6, EAX, 11)
IF_CPUID(static bool, uses_hwp_notify, x86_power_uses_hwp, 6, EAX, 8)
IF_CPUID(static bool, has_bias, is_intel, 6, ECX, 3)

/* AMD APM vol. 3, "Appendix E", Fn8000_0007_EDX, _0008_EBX, _0021_EAX. */
IF_CPUID(bool, x86_power_has_pstates, is_amd, 0x80000007, EDX, 7)
IF_CPUID(static bool, has_cppc, is_amd, 0x80000008, EBX, 27)
IF_MSR(bool, x86_power_uses_cppc, has_cppc, AMD_CPPC_ENABLE, 1)
IF_CPUID(bool, x86_power_has_prefetch_control, is_amd, 0x80000021, EAX, 13)

/*
 * Models of family 6.  cores: prefetcher bits 0 to 3.  small: bits 0 and 2.
 * The efficient cores of a hybrid part have other bits.
 */
static const uint8_t cores[] = { 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a,
	0x2d, 0x3a, 0x3e, 0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56, 0x4e,
	0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x7d, 0x7e, 0x6a, 0x6c, 0x8c, 0x8d,
	0xa7, 0x8f, 0xcf, 0x97, 0x9a, 0xb7, 0xba, 0xbf };
static const uint8_t small[] = { 0x37, 0x4a, 0x4d, 0x5a, 0x5d, 0x4c, 0x5c, 0x5f,
	0x7a };

static bool
is_model_of(const uint8_t *list, size_t n)
{
	return is_intel() && !x86_features.hypervised &&
	       x86_features.family == 6 && x86_features.model <= 0xff &&
	       memchr(list, (int)x86_features.model, n) != NULL;
}

/* CPUID.1AH:EAX[31:24] is 20H on an efficient core (Intel SDM vol. 2A). */
static bool
is_efficient_core(void)
{
	return cpuid_has(7, CPUID_EDX, 15) &&
	       FIELD(cpuid(0x1a, 0).a, 31, 24) == 0x20;
}

uint64_t
x86_power_prefetch_bits(void)
{
	if (is_model_of(cores, sizeof cores))
		return is_efficient_core() ? 0 : 0xf;
	return is_model_of(small, sizeof small) ? 0x5 : 0;
}

bool
x86_power_has_ratios(void)
{
	return is_model_of(cores, sizeof cores);
}

bool
x86_power_has_c1e(void)
{
	return is_amd() && !x86_features.hypervised &&
	       (x86_features.family == 0x10 ||
		   (x86_features.family == 0xf && x86_features.model >= 0x40));
}

bool
x86_power_has_cc6(void)
{
	return is_amd() && !x86_features.hypervised &&
	       (x86_features.family == 0x17 || x86_features.family == 0x19);
}

static bool
has_prefetch(void)
{
	return x86_power_prefetch_bits() != 0;
}

static bool
has_hwcr(void)
{
	return is_amd() && x86_features.family >= 0xf;
}

/* CPUID.07H:EDX[31:26]: IBRS, STIBP, IA32_ARCH_CAPABILITIES, SSBD. */
static bool
has_spec_ctrl(void)
{
	if (is_amd())
		return (cpuid(0x80000008, 0).b & (1 << 24 | 3 << 14)) != 0;
	return is_intel() && (cpuid(7, 0).d & (1U << 31 | 3 << 26)) != 0;
}

/* Bit 7: TSX_CTRL.  12: DOITM.  18: FB_CLEAR_CTRL. */
static uint64_t
arch_capabilities(void)
{
	uint64_t v = 0;

	if (is_intel() && cpuid_has(7, CPUID_EDX, 29))
		x86_rdmsr_safe(IA32_ARCH_CAPABILITIES, &v);
	return v;
}

static bool
has_capabilities(void)
{
	return arch_capabilities() != 0;
}

static bool
has_tsx_ctrl(void)
{
	return FIELD(arch_capabilities(), 7, 7) != 0;
}

static bool
has_mcu_opt_ctrl(void)
{
	return FIELD(arch_capabilities(), 18, 18) != 0 ||
	       (is_intel() && cpuid_has(7, CPUID_EDX, 9));
}

static bool
has_doitm(void)
{
	return FIELD(arch_capabilities(), 12, 12) != 0;
}

/*
 * A setting moves only if something writes it; a status moves by itself.  Only
 * firmware writes mitigations here.
 */
enum kind { STATUS, SETTING, MITIGATION };
static const struct {
	const char *name;
	uint32_t msr;
	enum kind kind;
	bool (*exists)(void); /* NULL: x86_power_watch() knows */
} regs[] = {
	{ "misc_enable", IA32_MISC_ENABLE, SETTING, is_intel },
	{ "perf_ctl", IA32_PERF_CTL, SETTING, x86_power_has_speedstep },
	{ "perf_status", IA32_PERF_STATUS, STATUS, x86_power_has_speedstep },
	{ "pm_enable", IA32_PM_ENABLE, SETTING, has_hwp },
	{ "hwp_capabilities", IA32_HWP_CAPABILITIES, STATUS,
	    x86_power_uses_hwp },
	{ "hwp_request", IA32_HWP_REQUEST, SETTING, x86_power_uses_hwp },
	{ "hwp_request_pkg", IA32_HWP_REQUEST_PKG, SETTING, uses_hwp_package },
	{ "hwp_interrupt", IA32_HWP_INTERRUPT, SETTING, uses_hwp_notify },
	{ "hwp_status", IA32_HWP_STATUS, STATUS, x86_power_uses_hwp },
	{ "energy_perf_bias", IA32_ENERGY_PERF_BIAS, SETTING, has_bias },
	{ "misc_feature_control", MSR_MISC_FEATURE_CONTROL, SETTING,
	    has_prefetch },
	{ "power_ctl", MSR_POWER_CTL, SETTING, x86_power_has_ratios },
	{ "therm_status", IA32_THERM_STATUS, STATUS, NULL },
	{ "package_therm_status", IA32_PACKAGE_THERM_STATUS, STATUS, NULL },
	{ "hwcr", AMD_HWCR, SETTING, has_hwcr },
	{ "pstate_control", AMD_PSTATE_CONTROL, SETTING,
	    x86_power_has_pstates },
	{ "pstate_status", AMD_PSTATE_STATUS, STATUS, x86_power_has_pstates },
	{ "cppc_enable", AMD_CPPC_ENABLE, SETTING, has_cppc },
	{ "cppc_capability", AMD_CPPC_CAPABILITY, STATUS, has_cppc },
	{ "cppc_request", AMD_CPPC_REQUEST, SETTING, x86_power_uses_cppc },
	{ "interrupt_pending", AMD_INTERRUPT_PENDING, SETTING,
	    x86_power_has_c1e },
	{ "cstate_config", AMD_CSTATE_CONFIG, SETTING, x86_power_has_cc6 },
	{ "prefetch_control", AMD_PREFETCH_CONTROL, SETTING,
	    x86_power_has_prefetch_control },
	{ "spec_ctrl", IA32_SPEC_CTRL, MITIGATION, has_spec_ctrl },
	{ "arch_capabilities", IA32_ARCH_CAPABILITIES, MITIGATION,
	    has_capabilities },
	{ "tsx_ctrl", IA32_TSX_CTRL, MITIGATION, has_tsx_ctrl },
	{ "mcu_opt_ctrl", IA32_MCU_OPT_CTRL, MITIGATION, has_mcu_opt_ctrl },
	{ "uarch_misc_ctl", IA32_UARCH_MISC_CTL, MITIGATION, has_doitm },
};
#define MITIGATIONS (~0U << (POWER_NREG - 5)) /* bits of xw_has */
_Static_assert(sizeof regs / sizeof regs[0] == POWER_NREG, "power.h");

static bool
has_reg(const struct x86_power *pw, unsigned i)
{
	return (pw->xw_has >> i & 1) != 0;
}

static bool
exists(const struct x86_power *pw, unsigned i)
{
	if (regs[i].exists != NULL)
		return regs[i].exists();
	return regs[i].msr == IA32_THERM_STATUS ? pw->xw_thermal
	                                        : pw->xw_package;
}

static uint64_t
read_reg(unsigned i)
{
	uint64_t v = 0;

	x86_rdmsr_safe(regs[i].msr, &v);
	return v;
}

void
x86_power_init(struct x86_power *pw)
{
	uint64_t v;

	x86_power_watch(pw);
	for (unsigned i = 0; i < POWER_NREG; i++) {
		if (exists(pw, i) && x86_rdmsr_safe(regs[i].msr, &v) == 0)
			pw->xw_has |= 1U << i;
	}
	x86_power_settle(pw);
}

void
x86_power_settle(struct x86_power *pw)
{
	for (unsigned i = 0; i < POWER_NREG; i++) {
		if (has_reg(pw, i))
			pw->xw_boot[i] = pw->xw_last[i] = read_reg(i);
	}
}

void
x86_power_look(struct x86_power *pw)
{
	for (unsigned i = 0; i < POWER_NREG; i++) {
		uint64_t v;

		if (!has_reg(pw, i) || regs[i].kind != SETTING ||
		    (v = read_reg(i)) == pw->xw_last[i])
			continue;
		pw->xw_last[i] = v;
		pw->xw_changes++;
	}
}

/* An object of the settings, or of the others; values now, or at boot. `member`
 * is its name and what comes before it. */
static void
describe_regs(const struct x86_power *pw, struct text *t, const char *member,
    enum kind kind, bool now)
{
	const char *join = "";

	text_add(t, "%s\":{", member);
	for (unsigned i = 0; i < POWER_NREG; i++) {
		if (!has_reg(pw, i) || regs[i].kind != kind)
			continue;
		text_add(t, "%s\"%s\":\"%#lx\"", join, regs[i].name,
		    (unsigned long)(now ? read_reg(i) : pw->xw_boot[i]));
		join = ",";
	}
	text_add(t, "}");
}

void
x86_power_describe(const struct x86_power *pw, struct text *t)
{
	if ((pw->xw_has & ~MITIGATIONS) != 0) {
		describe_regs(pw, t, ",\"power\":{\"settings", SETTING, false);
		describe_regs(pw, t, ",\"settings_now", SETTING, true);
		describe_regs(pw, t, ",\"status", STATUS, false);
		describe_regs(pw, t, ",\"status_now", STATUS, true);
		text_add(t, "}");
	}
	if ((pw->xw_has & MITIGATIONS) != 0)
		describe_regs(pw, t, ",\"mitigations", MITIGATION, true);
}
