/*
 * Starts CPUs and ends the run by PSCI calls.
 * Arm Power State Coordination Interface (DEN 0022), "PSCI function
 * identifiers" and "Return error codes".
 */

#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"

#define PSCI_CPU_ON         0xc4000003
#define PSCI_SYSTEM_OFF     0x84000008
#define PSCI_SYSTEM_RESET   0x84000009
#define PSCI_SUCCESS        0
#define PSCI_INVALID_PARAMS (-2)
#define PSCI_DENIED         (-3)
#define PSCI_ALREADY_ON     (-4)
#define PSCI_ON_PENDING     (-5)

/*
 * Call by the SMC Calling Convention (DEN 0028): x0 to x3 are arguments, x0 is
 * the result, and x4 to x17 may change.  The firmware's tables name the
 * conduit, HVC or SMC.  The wrong one is undefined or never returns.
 */
static int64_t
psci_call(uint64_t fn, uint64_t a, uint64_t b, uint64_t c)
{
	register uint64_t x0 __asm__("x0") = fn;
	register uint64_t x1 __asm__("x1") = a;
	register uint64_t x2 __asm__("x2") = b;
	register uint64_t x3 __asm__("x3") = c;

	if (machine.m_psci == PSCI_HVC)
		__asm__ volatile("hvc #0"
				 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
				 :
				 : "x4", "x5", "x6", "x7", "x8", "x9", "x10",
				 "x11", "x12", "x13", "x14", "x15", "x16",
				 "x17", "memory");
	else
		__asm__ volatile("smc #0"
				 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
				 :
				 : "x4", "x5", "x6", "x7", "x8", "x9", "x10",
				 "x11", "x12", "x13", "x14", "x15", "x16",
				 "x17", "memory");
	return (int32_t)x0;
}

const char *
psci_cpu_on(uint64_t mpidr, uint64_t entry, uint64_t context)
{
	uint64_t fn = PSCI_CPU_ON;

	if (machine.m_psci == PSCI_NONE)
		return "the firmware's tables have no PSCI";
	if (machine.m_psci_cpu_on != 0)
		fn = machine.m_psci_cpu_on;
	switch (psci_call(fn, mpidr, entry, context)) {
	case PSCI_SUCCESS:
		return NULL;
	case PSCI_ALREADY_ON:
	case PSCI_ON_PENDING:
		return "PSCI says that it runs already";
	case PSCI_INVALID_PARAMS:
	case PSCI_DENIED:
		return "PSCI does not know it, or forbids it";
	default:
		return "PSCI failed";
	}
}

/*
 * For a panic before the firmware's tables have named the conduit: try both.
 * HVC is tried only if a hypervisor is below us, which is so if the boot began
 * at EL1.  SMC is undefined without EL3, which arm64_smc() survives.
 */
static void
psci_guess(uint64_t fn)
{
	if (arm64_boot_el == 1)
		arm64_hvc(fn);
	arm64_smc(fn);
}

void
psci_end(bool passed)
{
	uint64_t fn = passed ? PSCI_SYSTEM_OFF : PSCI_SYSTEM_RESET;

	if (machine.m_psci != PSCI_NONE)
		psci_call(fn, 0, 0, 0);
	else if (machine.m_tables == NULL)
		psci_guess(fn);
}
