/* A disturbance without an interrupt is counted where the CPU shows it. */
#include "tests/lib/host/support.h"

#include <string.h>

#include "arch/x86/msr.h"
#include "arch/x86/power/power.h"
#include "arch/x86/power/regs.h"
#include "include/sys/barecpc.h"
#include "lib/text.h"
#include "tests/lib/host/x86/fake_regs.h"

/* Skylake: all that Intel has.  Heat was logged before the boot. */
static const struct fake_part skylake = {
	{ .vendor = "GenuineIntel", .family = 6, .model = 0x5e, .mca = true },
	{ { 1, { .c = 1 << 7, .d = 1 << 22 } },
	    { 6, { .a = 1 | 1 << 6, .c = 1 } } },
	{ { MSR_SMI_COUNT, 0x100000007, 0, 0 }, { IA32_APERF, 500, 0, 0 },
	    { IA32_MPERF, 400, 0, 0 },
	    { IA32_THERM_STATUS, 0x8835000a, 0, 0xaaaa },
	    { IA32_PACKAGE_THERM_STATUS, 0x88320000, 0, 0xaaa },
	    { IA32_PERF_CTL, 0x2200, ~0ULL, 0 },
	    { IA32_PERF_STATUS, 0x2201, 0, 0 },
	    { IA32_MISC_ENABLE, 0x850089, ~0ULL, 0 },
	    { MSR_MISC_FEATURE_CONTROL, 3, 0xf, 0 },
	    { MSR_POWER_CTL, 0x24005b, ~0ULL, 0 } },
};

static struct x86_power pw;

static void
start(const struct fake_part *part)
{
	fake_part(part);
	memset(&pw, 0, sizeof pw);
	x86_power_init(&pw);
}

static struct barecpc_interrupts
strain(void)
{
	struct barecpc_interrupts by = { 0 };

	x86_power_strain(&pw, &by);
	return by;
}

TEST(intel_shows_all)
{
	start(&skylake);
	struct barecpc_interrupts by = strain();
	assert_int_equal(by.by_flags, 0x1f);
	assert_int_equal(by.by_smis, 7);
	assert_int_equal(by.by_throttles, 0);
	assert_int_equal(by.by_errors, 0);
	assert_int_equal(by.by_settings, 0);
	assert_int_equal(by.by_aperf, 500);
	assert_int_equal(by.by_mperf, 400);
	assert_int_equal(fake_faults, 0);
}

/* Each log counts once, and is cleared; a threshold's log stays. */
TEST(throttling_is_counted)
{
	static const unsigned logs[] = { 1, 3, 5, 11, 13, 15 };
	unsigned n = 0;

	start(&skylake);
	for (unsigned i = 0; i < 6; i++) {
		fake_reg(IA32_THERM_STATUS)->value |= 1ULL << logs[i] | 0x280;
		assert_int_equal(strain().by_throttles, ++n);
		assert_true(fake_reg(IA32_THERM_STATUS)->value == 0x88350280);
		assert_int_equal(strain().by_throttles, n);
	}
	fake_reg(IA32_PACKAGE_THERM_STATUS)->value |= 1 << 11;
	assert_int_equal(strain().by_throttles, n + 1);
	/* A threshold of software, and heat without a log. */
	fake_reg(IA32_THERM_STATUS)->value |= 0x280 | 1;
	assert_int_equal(strain().by_throttles, n + 1);
}

TEST(errors_and_settings_add_up)
{
	start(&skylake);
	fake_errors = 2;
	assert_int_equal(strain().by_errors, 2);
	fake_errors = 1;
	assert_int_equal(strain().by_errors, 3);
	fake_reg(IA32_PERF_CTL)->value = 0x800;
	fake_reg(MSR_POWER_CTL)->value = 0;
	assert_int_equal(strain().by_settings, 2);
	assert_int_equal(strain().by_settings, 2);
	fake_reg(IA32_PERF_STATUS)->value = 0x800; /* moves by itself */
	assert_int_equal(strain().by_settings, 2);
}

/* Neither reads a register that the part lacks. */
TEST(old_and_foreign_parts_show_less)
{
	const struct fake_part via = {
		.features = { .vendor = "CentaurHauls", .family = 6 },
	};
	const struct fake_part zen = {
		{ .vendor = "AuthenticAMD", .family = 0x17, .mca = true },
		{ { 6, { .c = 1 } } },
		{ { IA32_APERF, 1, 0, 0 }, { IA32_MPERF, 2, 0, 0 },
		    { AMD_HWCR, 0, 0, 0 }, { AMD_CSTATE_CONFIG, 0, 0, 0 } }
	};
	char text[200] = "";
	struct text t = { text, sizeof text, 0 };

	start(&via);
	assert_int_equal(strain().by_flags, 0);
	assert_int_equal(fake_faults, 0);
	x86_power_describe(&pw, &t);
	assert_string_equal(text, "");
	start(&zen);
	assert_int_equal(strain().by_flags, BARECPC_INTERRUPTS_ERRORS |
						BARECPC_INTERRUPTS_SETTINGS |
						BARECPC_INTERRUPTS_RATE);
	assert_int_equal(fake_faults, 0);
}

TEST(a_record_has_before_and_now)
{
	char text[1000] = "";
	struct text t = { text, sizeof text, 0 };

	start(&skylake);
	fake_reg(IA32_PERF_CTL)->value = 0x800;
	fake_reg(IA32_PERF_STATUS)->value = 0x801;
	x86_power_describe(&pw, &t);
	assert_string_equal(text,
	    ",\"power\":{\"settings\":{\"misc_enable\":\"0x850089\","
	    "\"perf_ctl\":\"0x2200\",\"misc_feature_control\":\"0x3\","
	    "\"power_ctl\":\"0x24005b\"},"
	    "\"settings_now\":{\"misc_enable\":\"0x850089\","
	    "\"perf_ctl\":\"0x800\",\"misc_feature_control\":\"0x3\","
	    "\"power_ctl\":\"0x24005b\"},"
	    "\"status\":{\"perf_status\":\"0x2201\","
	    "\"therm_status\":\"0x88350000\","
	    "\"package_therm_status\":\"0x88320000\"},"
	    "\"status_now\":{\"perf_status\":\"0x801\","
	    "\"therm_status\":\"0x88350000\","
	    "\"package_therm_status\":\"0x88320000\"}}");
}

/* The text of the record's member. */
static const char *
described(const struct fake_part *part)
{
	static char text[1000];
	struct text t = { text, sizeof text, 0 };

	start(part);
	text[0] = '\0';
	x86_power_describe(&pw, &t);
	assert_int_equal(fake_faults, 0);
	return text;
}

/* A register of mitigations is read only if CPUID or the first one lists it. */
TEST(mitigations_are_in_a_record)
{
	struct fake_part intel = {
		{ .vendor = "GenuineIntel", .family = 6, .hypervised = true },
		{ { 7, { .d = 1 << 26 | 1 << 29 } } },
		{ { IA32_MISC_ENABLE, 1, 0, 0 }, { IA32_SPEC_CTRL, 4, 0, 0 },
		    { IA32_ARCH_CAPABILITIES, 0x41080, 0, 0 },
		    { IA32_TSX_CTRL, 3, 0, 0 }, { IA32_MCU_OPT_CTRL, 1, 0, 0 },
		    { IA32_UARCH_MISC_CTL, 1, 0, 0 } },
	};
	const struct fake_part zen = {
		{ .vendor = "AuthenticAMD",
		    .family = 0x19,
		    .hypervised = true },
		{ { 0x80000008, { .b = 1 << 24 } } },
		{ { AMD_HWCR, 1, 0, 0 }, { IA32_SPEC_CTRL, 0, 0, 0 } },
	};

	assert_non_null(strstr(described(&intel),
	    "}},\"mitigations\":{\"spec_ctrl\":\"0x4\","
	    "\"arch_capabilities\":\"0x41080\",\"tsx_ctrl\":\"0x3\","
	    "\"mcu_opt_ctrl\":\"0x1\",\"uarch_misc_ctl\":\"0x1\"}"));
	fake_reg(IA32_SPEC_CTRL)->value = 5; /* it is no setting of the run */
	assert_int_equal(strain().by_settings, 0);
	intel.regs[2].value = 1; /* none of the three */
	assert_non_null(strstr(described(&intel),
	    "{\"spec_ctrl\":\"0x4\",\"arch_capabilities\":\"0x1\"}"));
	assert_non_null(
	    strstr(described(&zen), ",\"mitigations\":{\"spec_ctrl\":\"0\"}"));
}

/* Registers of HWP and CPPC that CPUID lists are in the record. */
TEST(levels_of_the_hardware_are_in_a_record)
{
	struct fake_part hwp = {
		{ .vendor = "GenuineIntel", .family = 6, .hypervised = true },
		{ { 6, { .a = 0x980, .c = 8 } } },
		{ { IA32_MISC_ENABLE, 1, 0, 0 }, { IA32_PM_ENABLE, 1, 0, 0 },
		    { IA32_HWP_CAPABILITIES, 2, 0, 0 },
		    { IA32_HWP_REQUEST, 3, 0, 0 },
		    { IA32_HWP_REQUEST_PKG, 4, 0, 0 },
		    { IA32_HWP_INTERRUPT, 5, 0, 0 },
		    { IA32_HWP_STATUS, 6, 0, 0 },
		    { IA32_ENERGY_PERF_BIAS, 7, 0, 0 } },
	};
	const struct fake_part zen3 = {
		{ .vendor = "AuthenticAMD", .family = 0x19 },
		{ { 0x80000008, { .b = 1 << 27 } } },
		{ { AMD_HWCR, 1, 0, 0 }, { AMD_CPPC_ENABLE, 0, 0, 0 },
		    { AMD_CPPC_CAPABILITY, 2, 0, 0 },
		    { AMD_CSTATE_CONFIG, 3, 0, 0 } },
	};

	assert_non_null(strstr(described(&hwp),
	    "\"settings\":{\"misc_enable\":\"0x1\",\"pm_enable\":\"0x1\","
	    "\"hwp_request\":\"0x3\",\"hwp_request_pkg\":\"0x4\","
	    "\"hwp_interrupt\":\"0x5\",\"energy_perf_bias\":\"0x7\"}"));
	assert_non_null(
	    strstr(described(&hwp), "\"status\":{\"hwp_capabilities\":\"0x2\","
				    "\"hwp_status\":\"0x6\"}"));
	hwp.regs[1].value = 0; /* off: no other register can be read */
	assert_non_null(strstr(described(&hwp),
	    "\"settings\":{\"misc_enable\":\"0x1\",\"pm_enable\":\"0\","
	    "\"energy_perf_bias\":\"0x7\"}"));
	assert_non_null(strstr(described(&zen3),
	    "\"settings\":{\"hwcr\":\"0x1\",\"cppc_enable\":\"0\","
	    "\"cstate_config\":\"0x3\"}"));
	assert_non_null(strstr(
	    described(&zen3), "\"status\":{\"cppc_capability\":\"0x2\"}"));
}
