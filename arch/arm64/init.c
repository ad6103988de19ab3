/*
 * arch_init(): what the machine has, in the order it is needed.
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/dev/gic.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mm/pt.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/errno.h"
#include "lib/printf.h"

const char arch_name[] = "arm64";
const char arch_uname[] = "aarch64";
const uint16_t arch_elf_machine = 183; /* EM_AARCH64 */

/*
 * Who else is here.  KVM says so; on an emulator's machine without KVM it is
 * emulation.
 * SMC Calling Convention (DEN 0028), "Vendor Specific Hypervisor Service
 * Calls"; Linux, include/linux/arm-smccc.h (KVM's UID).
 */
#define SMCCC_HYP_UID 0x8600ff01
#define KVM_UID_FIRST 0xb66fb428

static const char *
find_vmm(void)
{
	if (machine.m_psci == PSCI_HVC &&
	    (uint32_t)arm64_hvc(SMCCC_HYP_UID) == KVM_UID_FIRST)
		return "kvm";
	return machine.m_virtual ? "tcg" : "none";
}

void
arch_init(struct bootinfo *bi)
{
	static const char *const conduit[] = { "no PSCI", "PSCI by hvc",
		"PSCI by smc" };

	(void)bi; /* read by arch_init_early() */
	arm64_pt_use_allocator();
	arm64_kstack_init();
	if (machine.m_tables == NULL)
		panic("cpu: no GIC in a device tree, nor ACPI tables");
	machine.m_vmm = find_vmm();
	if (arch_tick_hz() == 0)
		panic("cpu: CNTFRQ_EL0 is 0: the firmware has to set it");
	gic_init();
	arm64_cpus_init();
	arm64_sigframe_init();
	printf("cpu: MIDR %#lx, came up at EL%u, %s, timer %lu Hz\n",
	    (unsigned long)read_sysreg(midr_el1), arm64_boot_el,
	    conduit[machine.m_psci], (unsigned long)arch_tick_hz());
}

/* Linux has none that are this machine's alone. */
intptr_t
arch_syscall(unsigned sysno, const uintptr_t *a)
{
	(void)sysno;
	(void)a;
	return -ENOSYS;
}

/* UEFI Specification, "AArch64 Platforms": the usual calling convention. */
typedef uint64_t efi_fn(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

uint64_t
arch_efi_call(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return ((efi_fn *)(uintptr_t)fn)(a, b, c, d);
}
