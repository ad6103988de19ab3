/*
 * Starts CPUs by PSCI calls, and ends the run.
 * Arm Power State Coordination Interface (DEN 0022), "PSCI function
 * identifiers" and "Return error codes".
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "kern/arch.h"
#include "kern/platform/firmware/efirt.h"
#include "kern/platform/results/fb_console.h"
#include "kern/platform/results/keep.h"
#include "kern/platform/run_end.h"

#define PSCI_CPU_ON         0xc4000003
#define PSCI_SYSTEM_OFF     0x84000008
#define PSCI_SYSTEM_RESET   0x84000009
#define PSCI_SUCCESS        0
#define PSCI_INVALID_PARAMS (-2)
#define PSCI_DENIED         (-3)
#define PSCI_ALREADY_ON     (-4)
#define PSCI_ON_PENDING     (-5)

/* The firmware's tables name the conduit.  The wrong one may never return. */
static int32_t
psci_call(uint64_t fn, uint64_t a, uint64_t b, uint64_t c)
{
	return (int32_t)(machine.m_psci == PSCI_HVC ? arm64_hvc(fn, a, b, c)
						    : arm64_smc(fn, a, b, c));
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
		arm64_hvc(fn, 0, 0, 0);
	arm64_smc(fn, 0, 0, 0);
}

/* SYSTEM_OFF after a run that passed, else SYSTEM_RESET. */
static void
psci_end(bool passed)
{
	uint64_t fn = passed ? PSCI_SYSTEM_OFF : PSCI_SYSTEM_RESET;

	if (machine.m_psci != PSCI_NONE)
		psci_call(fn, 0, 0, 0);
	else if (machine.m_tables == NULL)
		psci_guess(fn);
}

/*
 * Without PSCI, the power block of a Raspberry Pi or UEFI does the same.
 * Without any, the CPU waits for ever.
 */
void
arch_halt(bool passed)
{
	arch_intr_disable();
	console_init(); /* a panic may come before the console is chosen */
	fbcons_linger();
	if (keep_restart())
		passed = false; /* a reset, not power off */
	else
		passed |= run_powers_off;
	psci_end(passed);
	bcm_pm_end(passed);
	efi_end(passed);
	for (;;)
		__asm__ volatile("wfi");
}
