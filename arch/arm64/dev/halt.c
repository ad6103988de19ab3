/*
 * The end of a run.  PSCI powers the machine off after a run that passed, and
 * resets it after one that failed.  Without PSCI, the power block of a
 * Raspberry Pi or UEFI does the same.  Without any, the CPU waits for ever.
 */
#include "arch/arm64/arm64.h"
#include "kern/arch.h"
#include "kern/platform/firmware/efirt.h"
#include "kern/platform/results/fb_console.h"
#include "kern/platform/results/keep.h"
#include "kern/platform/run_end.h"

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
