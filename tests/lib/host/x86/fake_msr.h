/*
 * The registers of an x86 PMU.  They fault as the manuals say, and count the
 * instructions of fake_run().  Included by host tests.  The backends of
 * arch/x86/ include it through tests/lib/host/shadow, whose
 * arch/x86/pmu/access.h replaces the real one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"

/* The same declarations as arch/x86/pmu/access.h. */
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

#define FAKE_NCPU  3
#define FAKE_NGP   16
#define FAKE_NFIX  8
#define FAKE_CPI   2 /* cycles per instruction */
#define FAKE_SLOTS 4 /* slots per instruction */

enum fake_kind {
	FAKE_INTEL,
	FAKE_AMD,
	FAKE_SWALLOWS, /* accepts every write, reads 0 */
};

/* One CPU: its CPUID leaves and its registers. */
struct fake_cpu {
	enum fake_kind kind;
	/* CPUID; a leaf that is absent here reads as zeros. */
	struct cpuid_regs leaf1, leaf_a, leaf_80000001, leaf_80000022;
	struct cpuid_regs leaf_23[2]; /* subleaves 0 and 1 */
	/* Subleaves of 40000101H, zeros after the last; NULL: no such leaf. */
	const struct cpuid_regs *models;
	unsigned core_type; /* leaf 1AH, EAX[31:24], of a hybrid part; or 0 */
	unsigned caches;    /* levels that leaf 4 lists */
	unsigned threads;   /* per core, a power of two; 0: no leaf 0BH */
	/* Which registers exist. */
	/* Intel's PerfMon version, whatever CPUID says; AMD: 2 */
	unsigned version;
	unsigned ngp, width;
	unsigned fixed; /* bit n: fixed counter n */
	bool full_width, anythread;
	bool core;             /* AMD: six PICs at C0010200H */
	bool short_event;      /* AMD: bits 63:32 of a select are reserved */
	uint64_t reserved_sel; /* AMD: more reserved bits of a select */
	bool stuck_fixed;      /* fixed counters do not count */
	/* Lies.  The bits that a counter really has, unless 0: */
	unsigned narrow;
	bool no_filter;    /* counters for ring 3 count ring 0, too */
	unsigned loses;    /* lose the interrupt of each n-th overflow */
	unsigned lags;     /* instructions from an overflow to its interrupt */
	bool extra_msrs;   /* Intel: the extra MSRs exist */
	bool wide_offcore; /* Intel: off-core responses have 48 bits, not 38 */
	uint64_t offcore_excludes; /* these bits together raise #GP */
	bool rtm; /* Intel: bit 32 of a select, and bit 33 of PIC 2's */
	/* The values of the registers. */
	uint64_t sel[FAKE_NGP], gp[FAKE_NGP], fix[FAKE_NFIX];
	uint64_t fixed_ctrl, ctrl, status;
	uint64_t debugctl; /* bit 12: an overflow freezes all counters */
	uint64_t de_cfg;   /* AMD, from family 10h on */
	uint64_t offcore[2], ldlat, frontend;
	bool reads_open;    /* CR4.PCE */
	unsigned overflows; /* number of overflows that may interrupt */
	unsigned pmis;      /* number of overflow interrupts raised */
	uint64_t raised;    /* when the last was raised */
	bool nmi;           /* they come as NMIs; one is pending */
	bool nmi_pending;
	bool masked;      /* NMIs are masked, as Intel's delivery leaves them */
	unsigned handed;  /* NMIs that raised the vector's interrupt */
	unsigned late;    /* NMIs that came too late */
	unsigned touched; /* number of register accesses */
};
extern struct fake_cpu fake_cpu[FAKE_NCPU];
extern unsigned fake_self; /* the CPU that the code runs on */

/* All CPUs have this shape and come out of reset; the code runs on CPU 0. */
void fake_reset(const struct fake_cpu *shape);
/* The CPU retires n instructions, at ring 3 or ring 0. */
void fake_run(uint64_t n, bool user);
/* Called before each access to a register, unless NULL. */
extern void (*fake_each)(void);
