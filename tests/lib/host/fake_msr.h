/*
 * The registers of an x86 PMU, which fault as the manuals say and count what
 * fake_run() runs.  Included by host tests, and
 * by the backends of arch/x86/ through tests/lib/host/shadow, whose
 * arch/x86/pmu/access.h hides the real one.
 */
#ifndef TESTS_LIB_HOST_FAKE_MSR_H
#define TESTS_LIB_HOST_FAKE_MSR_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"

/* What arch/x86/pmu/access.h declares. */
#define PMU_SPIN_INSNS 2
uint64_t pmu_rdmsr(uint32_t msr);
void pmu_wrmsr(uint32_t msr, uint64_t v);
int pmu_rdmsr_safe(uint32_t msr, uint64_t *v);
int pmu_wrmsr_safe(uint32_t msr, uint64_t v);
uint64_t pmu_rdpmc(uint32_t index);
void pmu_fence(void);
void pmu_open_reads(void);
void pmu_close_reads(void);
uint64_t pmu_rdtsc(void);
void pmu_spin(uint64_t n);
void pmu_deliver(bool nmi);
void pmu_hand_over(void);

#define FAKE_NCPU  2
#define FAKE_NGP   16
#define FAKE_NFIX  8
#define FAKE_CPI   2 /* cycles an instruction */
#define FAKE_SLOTS 4 /* of an instruction */

enum fake_kind {
	FAKE_INTEL,
	FAKE_AMD,
	FAKE_SWALLOWS, /* takes every write, reads 0 */
};

/* One CPU: what it says of itself, and what it has. */
struct fake_cpu {
	enum fake_kind kind;
	/* CPUID; a leaf not here is zeros. */
	struct cpuid_regs leaf1, leaf_a, leaf_80000001, leaf_80000022;
	/* Subleaves of 40000101H, zeros after the last; NULL: no such leaf. */
	const struct cpuid_regs *models;
	unsigned caches;  /* levels leaf 4 tells of */
	unsigned threads; /* of a core, a power of two; 0: no leaf 0BH */
	/* the registers */
	unsigned version; /* Intel's, whatever CPUID says; AMD's 2 */
	unsigned ngp, width;
	unsigned fixed; /* bit n: fixed counter n */
	bool full_width, anythread;
	bool core;        /* AMD: six at C0010200H */
	bool short_event; /* AMD: bits 63:32 of a select are reserved */
	bool stuck_fixed; /* fixed counters do not count */
	bool beside;      /* Intel's registers beside the event select */
	bool rtm;         /* Intel: bits 32 and, of PIC 2, 33 of a select */
	/* their contents */
	uint64_t sel[FAKE_NGP], gp[FAKE_NGP], fix[FAKE_NFIX];
	uint64_t fixed_ctrl, ctrl, status;
	uint64_t debugctl; /* with bit 12 an overflow freezes all counters */
	uint64_t de_cfg;   /* AMD's, from family 10h on */
	uint64_t offcore[2], ldlat, frontend;
	bool reads_open; /* CR4.PCE */
	unsigned pmis;   /* overflow interrupts asked for */
	bool nmi;        /* they come as NMIs, and one is on its way... */
	bool nmi_pending;
	bool masked;      /* ...or they do not, as Intel's delivery leaves it */
	unsigned handed;  /* NMIs that raised the vector's interrupt */
	unsigned late;    /* and those that came too late */
	unsigned touched; /* accesses of registers */
};
extern struct fake_cpu fake_cpu[FAKE_NCPU];
extern unsigned fake_self; /* the CPU we are on */

/* All CPUs alike, at reset; then on CPU 0. */
void fake_reset(const struct fake_cpu *shape);
/* The CPU retires n instructions, at ring 3 or ring 0. */
void fake_run(uint64_t n, bool user);
/* If not NULL, what happens before each access to a register. */
extern void (*fake_each)(void);

#endif /* TESTS_LIB_HOST_FAKE_MSR_H */
