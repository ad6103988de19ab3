/* arch_init(): initialises the machine, each part after those it needs. */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/dev/gic.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mm/pt.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/errno.h"
#include "kern/platform/firmware/smbios.h"
#include "lib/printf.h"

const char arch_name[] = "arm64";
const char arch_uname[] = "aarch64";
const uint16_t arch_elf_machine = 183; /* EM_AARCH64 */

/*
 * SMC Calling Convention (DEN 0028), "Vendor Specific Hypervisor Service
 * Calls".  Xen answers as the owner of the standard ones.
 */
#define SMCCC_HYP_UID     0x8600ff01
#define SMCCC_STD_HYP_UID 0x8500ff01
#define NOT_SUPPORTED     0xffffffff

/* The hypervisor or emulator, for records. */
static const char *
find_vmm(void)
{
	uint32_t uid = NOT_SUPPORTED;

	if (machine.m_psci == PSCI_HVC)
		uid = (uint32_t)arm64_hvc(SMCCC_HYP_UID, 0, 0, 0);
	if (machine.m_psci == PSCI_HVC && uid == NOT_SUPPORTED)
		uid = (uint32_t)arm64_hvc(SMCCC_STD_HYP_UID, 0, 0, 0);
	return arm64_vmm_name(uid, machine.m_virtual, host_accel);
}

/* How other CPUs start. */
static const char *
starter(void)
{
	static const char *const conduit[] = { "no PSCI", "PSCI by hvc",
		"PSCI by smc" };

	if (machine.m_ncpu > 0 && machine.m_cpu[0].mu_spins)
		return "spin-table";
	return conduit[machine.m_psci];
}

void
arch_init(struct bootinfo *bi)
{
	arm64_pt_use_allocator();
	arm64_kstack_init();
	machine.m_boot = bi;
	console_init();
	if (machine.m_tables == NULL)
		panic("cpu: no GIC in a device tree, and no ACPI tables: "
		      "give the loader one of them");
	arm64_watchdogs_init();
	machine.m_vmm = find_vmm();
	smbios_init(bi->bi_smbios, machine_map);
	if (arch_tick_hz() == 0)
		panic("cpu: CNTFRQ_EL0 is 0: use firmware that sets it");
	gic_init();
	arm64_cpus_init();
	arm64_sigframe_init();
	printf("cpu: MIDR %#lx, came up at EL%u, %s, timer %lu Hz\n",
	    (unsigned long)read_sysreg(midr_el1), arm64_boot_el, starter(),
	    (unsigned long)arch_tick_hz());
}

/* Linux has no system call that only arm64 has. */
intptr_t
arch_syscall(unsigned sysno, const uintptr_t *a)
{
	(void)sysno;
	(void)a;
	return -ENOSYS;
}

/* UEFI Specification, "AArch64 Platforms": the C calling convention. */
typedef uint64_t efi_fn(
    uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

uint64_t
arch_efi_call(
    uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	return ((efi_fn *)(uintptr_t)fn)(a, b, c, d, e);
}
