/*
 * Counts disturbances of this CPU that come without an interrupt: firmware,
 * heat, corrected errors, a changed setting, a changed clock rate.
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/power/power.h"
#include "arch/x86/power/regs.h"
#include "arch/x86/x86.h"
#include "include/sys/barecpc.h"

/* MSR_SMI_COUNT (arch/x86/msr.h). */
static void
add_smis(struct barecpc_interrupts *by)
{
	uint64_t v;

	if (!x86_power_is("GenuineIntel") ||
	    x86_rdmsr_safe(MSR_SMI_COUNT, &v) != 0)
		return;
	by->by_smis = (uint32_t)v;
	by->by_flags |= BARECPC_INTERRUPTS_SMIS;
}

/*
 * Take and clear the logs of a thermal status register.  Software clears a log
 * by writing 0; a 1 keeps it.
 */
static bool
take_logs(uint32_t msr)
{
	uint64_t v;

	if (x86_rdmsr_safe(msr, &v) != 0 || (v & THERM_LOGS) == 0)
		return false;
	x86_wrmsr_safe(msr, THERM_THRESHOLD_LOGS);
	return true;
}

static void
add_throttles(struct x86_power *pw, struct barecpc_interrupts *by)
{
	if (!pw->xw_thermal)
		return;
	pw->xw_throttles += take_logs(IA32_THERM_STATUS);
	if (pw->xw_package)
		pw->xw_throttles += take_logs(IA32_PACKAGE_THERM_STATUS);
	by->by_throttles = pw->xw_throttles;
	by->by_flags |= BARECPC_INTERRUPTS_THROTTLES;
}

/* Ignore what was logged before the boot. */
void
x86_power_watch(struct x86_power *pw)
{
	bool intel = x86_power_is("GenuineIntel");

	pw->xw_thermal = intel && cpuid_has(1, CPUID_EDX, 22) &&
	                 cpuid_has(6, CPUID_EAX, LEAF6_EAX_DTS);
	pw->xw_package = intel && cpuid_has(6, CPUID_EAX, LEAF6_EAX_PACKAGE);
	pw->xw_rate = cpuid_has(6, CPUID_ECX, LEAF6_ECX_APERF_MPERF);
	if (pw->xw_thermal)
		take_logs(IA32_THERM_STATUS);
	if (pw->xw_package)
		take_logs(IA32_PACKAGE_THERM_STATUS);
}

void
x86_power_strain(struct x86_power *pw, struct barecpc_interrupts *by)
{
	add_smis(by);
	add_throttles(pw, by);
	if (x86_features.mca) {
		pw->xw_errors += x86_mcheck_take();
		by->by_errors = pw->xw_errors;
		by->by_flags |= BARECPC_INTERRUPTS_ERRORS;
	}
	if (pw->xw_has != 0) {
		x86_power_look(pw);
		by->by_settings = pw->xw_changes;
		by->by_flags |= BARECPC_INTERRUPTS_SETTINGS;
	}
	if (pw->xw_rate && x86_rdmsr_safe(IA32_APERF, &by->by_aperf) == 0 &&
	    x86_rdmsr_safe(IA32_MPERF, &by->by_mperf) == 0)
		by->by_flags |= BARECPC_INTERRUPTS_RATE;
}
