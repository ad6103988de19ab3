/*
 * Errors that the hardware corrected or logged, in the records that a CPU
 * reaches by its system registers.
 *
 * Arm ARM (DDI 0487), "ERRIDR_EL1", "ERRSELR_EL1", "ERXFR_EL1",
 * "ERXSTATUS_EL1"; Arm RAS Supplement (DDI 0587), "ERR<n>STATUS" (how its
 * fields are cleared).
 */
#include "arch/arm64/arm64.h"

#include <stdint.h>

#include "arch/arm64/machine.h"
#include "arch/arm64/sysreg.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

#define STATUS_AV (1UL << 31) /* the address is valid */
#define STATUS_V  (1UL << 30) /* the record has an error */
#define STATUS_UE (1UL << 29) /* an uncorrected one */
/* A 1 clears a bit.  CE and UET have two bits: only two 1s clear them. */
#define STATUS_CLEARED 0xfff80000UL
#define STATUS_CE      (3UL << 24)
#define STATUS_UET     (3UL << 20)

/*
 * An unknown hypervisor may have the ID field and no registers.  KVM's read as
 * 0, and QEMU's CPUs have no records.
 */
bool
arm64_ras_exists(void)
{
	return FIELD(read_sysreg(id_aa64pfr0_el1), 31, 28) != 0 &&
	       (strcmp(machine.m_vmm, "none") == 0 ||
		   strcmp(machine.m_vmm, "kvm") == 0 ||
		   strcmp(machine.m_vmm, "tcg") == 0);
}

/* Select a record.  Returns its status, or 0 if the record is absent. */
static uint64_t
select_record(unsigned i)
{
	write_sysreg(ERRSELR_EL1, i);
	isb();
	return read_sysreg(ERXFR_EL1) != 0 ? read_sysreg(ERXSTATUS_EL1) : 0;
}

static void
print_record(unsigned i, uint64_t status)
{
	printf("cpu: RAS: CPU %u record %u: status %#lx (%s)",
	    arch_curcpu()->c_id, i, (unsigned long)status,
	    status & STATUS_UE ? "uncorrected" : "corrected or deferred");
	if ((status & STATUS_AV) != 0)
		printf(
		    ", address %#lx", (unsigned long)read_sysreg(ERXADDR_EL1));
	printf("\n");
}

/* The other bits take what is written: 0. */
static void
clear_record(uint64_t status)
{
	uint64_t v = status & STATUS_CLEARED;

	if ((v & STATUS_CE) != 0)
		v |= STATUS_CE;
	if ((v & STATUS_UET) != 0)
		v |= STATUS_UET;
	write_sysreg(ERXSTATUS_EL1, v);
}

unsigned
arm64_ras_take(bool say)
{
	unsigned n, errors = 0;

	if (!arm64_ras_exists())
		return 0;
	n = FIELD(read_sysreg(ERRIDR_EL1), 15, 0);
	for (unsigned i = 0; i < n; i++) {
		uint64_t status = select_record(i);

		if ((status & STATUS_V) == 0)
			continue;
		if (say)
			print_record(i, status);
		clear_record(status);
		errors++;
	}
	return errors;
}
