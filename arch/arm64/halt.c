/*
 * The end of a run: semihosting tells an emulator or debugger the status;
 * failing that the machine goes off by PSCI, then by UEFI; failing those, it
 * stands still.
 * Arm, "Semihosting for AArch32 and AArch64", SYS_EXIT_EXTENDED.
 */
#include "arch/arm64/console.h"
#include "arch/arm64/psci.h"
#include "kern/arch.h"
#include "kern/efirt.h"
#include "kern/fbcons.h"

#define SYS_EXIT_EXTENDED            0x20
#define ADP_STOPPED_APPLICATION_EXIT 0x20026

void arm64_semihost(uint64_t operation, const void *block);

void
arch_halt(int code)
{
	const uint64_t block[2] = {
		ADP_STOPPED_APPLICATION_EXIT,
		/* What QEMU makes of the same code on x86. */
		2 * (uint64_t)code + 1,
	};

	arch_intr_disable();
	console_init(); /* died before: a last word at the usual place */
	arm64_semihost(SYS_EXIT_EXTENDED, block);
	fbcons_linger();
	psci_system_off();
	efi_reset();
	for (;;)
		__asm__ volatile("wfi");
}
