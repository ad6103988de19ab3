/*
 * What the firmware's tables say of the machine, whichever tables it has.
 * Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_MACHINE_H
#define ARCH_ARM64_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/sched/cpu.h"

struct bootinfo;

/* One for each CPU, as ACPI's GICC entries may have it. */
#define MACHINE_NGICR MAXCPU

struct range {
	uint64_t r_pa;
	uint64_t r_bytes;
};

enum psci_conduit { PSCI_NONE, PSCI_HVC, PSCI_SMC };

enum uart_kind { UART_NONE, UART_PL011, UART_SBSA };

struct machine {
	const char *m_tables;  /* "device tree", "ACPI", or NULL: neither */
	enum uart_kind m_uart; /* of /chosen/stdout-path, or of SPCR */
	uint64_t m_uart_pa;
	unsigned m_gic; /* version: 2, 3, or 0 where none was found */
	struct range m_gicd, m_gicc;
	struct range m_gicr[MACHINE_NGICR]; /* redistributors, GICv3 */
	unsigned m_ngicr;                   /* of them, used */
	unsigned m_ngicr_named;             /* and how many the tables name */
	unsigned m_ngic;        /* interrupt controllers the tables name */
	uint32_t m_timer_intid; /* the virtual timer's PPI */
	uint32_t m_pmu_intid;   /* the overflow interrupt's; 0: none */
	enum psci_conduit m_psci;
	unsigned m_ncpu; /* CPUs the tables name: */
	uint64_t
	    m_mpidr[MAXCPU]; /* affinity fields of those there is room for */
	bool m_virtual;      /* the tables are an emulator's or hypervisor's */
	const char *m_vmm;   /* "kvm", "tcg", or "none" on metal */
};
extern struct machine machine;

/* Note a CPU; one that there is no room for is counted. */
void machine_add_cpu(uint64_t mpidr);
/* Note a region of redistributors; those beyond MACHINE_NGICR are reported. */
void machine_add_gicr(uint64_t pa, uint64_t bytes);
/*
 * Report what the tables say and the kernel cannot use, a line for each, and
 * leave it out.  After one of the two below.
 */
void machine_check(const struct bootinfo *bi);

/* Fill `machine`, early: false where such tables do not describe it. */
bool machine_from_fdt(const struct bootinfo *bi);
bool machine_from_acpi(const struct bootinfo *bi);

#endif /* ARCH_ARM64_MACHINE_H */
