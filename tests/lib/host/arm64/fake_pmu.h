/*
 * The registers of a PMUv3, by the names of the Arm ARM.  They count the
 * instructions of fake_run().
 *
 * They fail the test if the backend breaks a rule that no emulator enforces:
 * - A write has no effect to rely on before an ISB.
 * - A count may be read only after an ISB.
 * - Reserved bits stay 0, and absent counters are not accessed.
 *
 * Included by host tests.  The backend of arch/arm64/ includes it through
 * tests/lib/host/shadow, whose arch/arm64/sysreg.h replaces the real one.  Arm
 * ARM (DDI 0487), "Performance Monitors registers", "Synchronization
 * requirements for AArch64 System registers".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The same macros as in arch/arm64/sysreg.h. */
#define read_sysreg(reg)         fake_mrs(#reg)
#define write_sysreg(reg, value) fake_msr(#reg, value)
#define isb()                    fake_isb()
#define FIELD(v, hi, lo)                                                       \
	(((uint64_t)(v) >> (lo)) & ((2ULL << ((hi) - (lo))) - 1))
uint64_t fake_mrs(const char *reg);
void fake_msr(const char *reg, uint64_t v);
void fake_isb(void);

#define FAKE_NCPU    3
#define FAKE_NEVENT  31
#define FAKE_CPI     3  /* cycles per instruction */
#define FAKE_PATIENT 10 /* instructions per call of arch_tick() */
/* An event that happens 0, 1, 2, 3 times in 4 instructions, again and again. */
#define FAKE_WAVE 0xc0

struct fake_shape {
	unsigned version, nevent; /* ID_AA64DFR0_EL1.PMUVer, PMCR_EL0.N */
	/* PMCR_EL0.FZO has no effect; with it no overflow interrupts */
	bool never_freezes, frozen_deaf;
	uint64_t ceid[2];
	uint64_t pmmir; /* PMMIR_EL1 */
	/*
	 * QEMU 7.2 under -icount notices an overflow when it next updates the
	 * PMU.  It does so at a change of exception level, at certain
	 * accesses, and by a timer that it sets for one count before the
	 * overflow.
	 */
	bool loses;
	unsigned late;      /* instructions from an overflow to its interrupt */
	bool deaf;          /* the interrupt is not connected */
	bool noisy;         /* another interrupt is always pending */
	unsigned stuck;     /* bit n: PIC n does not count */
	bool narrow;        /* event counters have 31 bits */
	bool no_filter;     /* counters for EL0 count EL1, too */
	unsigned forgets;   /* forget each n-th overflow */
	unsigned talkative; /* bit n: PIC n counts twice */
	unsigned trapped;   /* from this access on they trap; 0: none */
};

/* The registers of one CPU. */
struct fake_pmu {
	uint64_t pmcr, pmcnten, pminten, pmovs, pmuserenr, pmselr;
	uint64_t pmevcntr[FAKE_NEVENT + 1];  /* the last is PMCCNTR_EL0 */
	uint64_t pmevtyper[FAKE_NEVENT + 1]; /* the last is PMCCFILTR_EL0 */
	uint64_t unnoticed; /* overflows that PMOVS does not show yet */
	uint64_t past;      /* bit n: PIC n's threshold condition was true */
	uint64_t timer;     /* when PMOVS will show them; 0: never */
	/* when the interrupt was raised; 0: it is not raised */
	uint64_t since;
	unsigned el; /* the exception level of the last instruction */
	/* Written, and uncertain until the next ISB. */
	bool unsure_pmcr, unsure_pmcnten, unsure_pminten, unsure_pmovs;
	bool unsure_pmuserenr, unsure_pmselr;
	uint64_t unsure_pmevcntr, unsure_pmevtyper;
	bool counted;          /* something has counted since the last ISB */
	unsigned isbs, starts; /* number of ISBs; of writes to PMCNTENSET_EL0 */
	unsigned touched;      /* number of register accesses */
};
extern struct fake_pmu fake_pmu[FAKE_NCPU];
extern struct fake_shape fake_shape;
extern unsigned fake_self; /* the CPU that the code runs on */

/* Broken rules.  The test fails at the first, but if fake_counts_faults. */
extern unsigned fake_faults;
extern bool fake_counts_faults;
/* The nth ISB from now on does nothing; 0: all ISBs work. */
extern unsigned fake_lost_isb;

/* All CPUs have this shape, with arbitrary values; code runs on CPU 0. */
void fake_reset(const struct fake_shape *shape);
/* n instructions retire at EL0, EL1 or EL2, after all earlier writes. */
void fake_run(unsigned el, uint64_t n);
/* ISR_EL1.I */
bool fake_pending(void);
/* Read PIC n at EL0.  Returns false if the access is trapped. */
bool fake_el0_read(unsigned n, uint64_t *v);
