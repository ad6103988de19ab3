/*
 * The machine as the firmware describes it, in a device tree or in ACPI
 * tables.  Included by arch/arm64/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dev/uart/uart.h"
#include "kern/sched/cpu.h"

struct bootinfo;
struct dt; /* arch/arm64/fdt/dt.h */

/* ACPI may give each CPU a redistributor region of its own, in its GICC. */
#define MACHINE_NGICR MAXCPU
/* The bits of MPIDR_EL1 that identify a CPU. */
#define MPIDR_AFFINITY 0xff00ffffffULL

struct range {
	uint64_t r_pa;
	uint64_t r_bytes;
};

enum psci_conduit { PSCI_NONE, PSCI_HVC, PSCI_SMC };

/* A CPU of the tables. */
struct machine_cpu {
	uint64_t mu_mpidr;     /* affinity fields */
	uint32_t mu_phandle;   /* of its node in the device tree, or 0 */
	uint32_t mu_pmu_intid; /* its overflow interrupt, or 0: m_pmu_intid */
	/*
	 * Firmware waits until this word of memory holds an address, and jumps
	 * there.  PSCI starts the CPU if mu_spins is false.
	 */
	bool mu_spins;
	uint64_t mu_release;
};

/* Kinds of watchdogs: dev/watchdog.c has their registers. */
enum machine_watchdog_kind {
	MACHINE_SBSA,
	MACHINE_SP805,
	MACHINE_BCM2835,
	MACHINE_DESIGNWARE,
};
#define MACHINE_NWATCHDOG 8
struct machine_watchdog {
	enum machine_watchdog_kind wg_kind;
	uint64_t wg_pa; /* of the registers with its control register */
};

/* Addresses of devices on PCI, as the CPU has them; pn_bytes 0: unknown. */
struct machine_window {
	uint64_t pn_pa, pn_bus, pn_bytes;
};
struct machine_pci {
	struct range hb_ecam; /* configuration registers; r_pa 0: no PCI */
	struct machine_window hb_io, hb_memory;
};

struct machine {
	const char *m_tables; /* "device tree", "ACPI", or NULL: neither */
	struct uart m_uart;   /* from /chosen/stdout-path, SPCR or DBG2 */
	char m_no_driver[48]; /* the console's UART that has no driver, or "" */
	unsigned m_gic;       /* version: 2, 3, or 0 if absent */
	struct range m_gicd, m_gicc;
	struct range m_gicr[MACHINE_NGICR]; /* GICv3's redistributors */
	unsigned m_ngicr;                   /* entries of m_gicr in use */
	unsigned m_ngicr_named; /* redistributor regions in tables */
	unsigned m_ngic;        /* interrupt controllers in tables */
	uint32_t m_timer_intid; /* INTID of the virtual timer */
	uint32_t m_pmu_intid;   /* the PPI of every CPU's overflows, or 0 */
	enum psci_conduit m_psci;
	uint32_t m_psci_cpu_on; /* the number that PSCI 0.1 gives it, or 0 */
	unsigned m_ncpu;        /* CPUs in the tables, maybe above MAXCPU */
	struct machine_cpu m_cpu[MAXCPU]; /* the first ones */
	uint64_t m_bcm_pm; /* registers of BCM2835's power block, or 0 */
	struct machine_watchdog m_watchdog[MACHINE_NWATCHDOG];
	unsigned m_nwatchdog;
	struct machine_pci m_pci;
	bool m_lists_events;  /* the device tree lists what the PMU counts */
	uint64_t m_events[2]; /* that list, as bits of PMCEID<n>_EL0 */
	bool m_virtual;       /* the tables are an emulator's or hypervisor's */
	const struct bootinfo *m_boot; /* for machine_map() */
	const char *m_vmm; /* as in records: "kvm", "tcg", "none" on metal */
};
extern struct machine machine;

/*
 * Add a CPU, and return its entry.  If the table is full, only m_ncpu grows,
 * and the entry is one that nothing reads.
 */
struct machine_cpu *machine_add_cpu(uint64_t mpidr);
/* The number of entries of m_cpu in use. */
unsigned machine_ncpu(void);
/* A CPU of the tables by its affinity fields, or NULL. */
struct machine_cpu *machine_cpu(uint64_t mpidr);
/* Is this address in RAM, by the boot map? */
bool machine_is_ram(const struct bootinfo *bi, uint64_t pa);
/* INTID of this CPU's overflow interrupt, a PPI or an SPI, or 0. */
uint32_t machine_pmu_intid(uint64_t mpidr);
/* Add a watchdog.  If full, it is left out. */
void machine_add_watchdog(enum machine_watchdog_kind kind, uint64_t pa);
/* Add a region of redistributors.  If full, only m_ngicr_named grows. */
void machine_add_gicr(uint64_t pa, uint64_t bytes);
/*
 * A mapping for reading of a table of firmware, or NULL.  Tables are read
 * through the direct map, so must be in RAM by the boot map m_boot.
 */
const void *machine_map(uint64_t pa, size_t bytes);
/*
 * Report each value of the tables that the kernel cannot use, one line each.
 * Remove or replace it.  `self` is the boot CPU, which needs no start.
 * Call after one of the two functions below.
 */
void machine_check(const struct bootinfo *bi, uint64_t self);

/*
 * Fill in `machine`, early in the boot.  Returns false if such tables are
 * absent or do not describe the machine.
 */
bool machine_from_fdt(const struct bootinfo *bi);
bool machine_from_acpi(const struct bootinfo *bi);
/*
 * Fill in machine.m_uart if the tree names a console that has a driver.
 * `chosen` and `aliases` are the nodes of these names, or -1.
 */
void uart_from_fdt(const void *fdt, int chosen, int aliases);

/* Fill in machine.m_pci from this node, a host bridge with ECAM. */
void pci_from_fdt(const struct dt *dt);
