/*
 * The registers of a PMUv3 as the Arm ARM has them, by name, which count what
 * fake_run() runs and fail the test where their user breaks a rule that no
 * emulator enforces: a write not made certain by an ISB before it is relied
 * on, a count read without one, a reserved bit, a counter that is not there.
 * Included by host tests, and by the backend of arch/arm64/ through
 * tests/lib/host/shadow, whose arch/arm64/sysreg.h hides the real one.
 * Arm ARM (DDI 0487), "Performance Monitors registers", "Synchronization
 * requirements for AArch64 System registers".
 */
#ifndef TESTS_LIB_HOST_FAKE_PMU_H
#define TESTS_LIB_HOST_FAKE_PMU_H

#include <stdbool.h>
#include <stdint.h>

/* What arch/arm64/sysreg.h defines. */
#define read_sysreg(reg)         fake_mrs(#reg)
#define write_sysreg(reg, value) fake_msr(#reg, value)
#define isb()                    fake_isb()
#define FIELD(v, hi, lo)                                                       \
	(((uint64_t)(v) >> (lo)) & ((2ULL << ((hi) - (lo))) - 1))
uint64_t fake_mrs(const char *reg);
void fake_msr(const char *reg, uint64_t v);
void fake_isb(void);

#define FAKE_NCPU    2
#define FAKE_NEVENT  31
#define FAKE_CPI     3  /* cycles an instruction */
#define FAKE_PATIENT 10 /* instructions of a call of arch_tick() */

struct fake_shape {
	unsigned version; /* ID_AA64DFR0_EL1.PMUVer */
	unsigned nevent;  /* PMCR_EL0.N */
	uint64_t ceid[2];
	/*
	 * QEMU 7.2 under -icount: an overflow is noticed when the PMU is next
	 * looked after: at a change of exception level, at certain accesses,
	 * and by a timer, which is set for one count before.
	 */
	bool loses;
	unsigned late;      /* instructions from an overflow to its interrupt */
	bool deaf;          /* the interrupt is not wired */
	bool noisy;         /* another interrupt is always pending */
	unsigned stuck;     /* bit n: PIC n does not count */
	unsigned talkative; /* bit n: PIC n counts twice */
};

/* The registers of one CPU. */
struct fake_pmu {
	uint64_t pmcr, pmcnten, pminten, pmovs, pmuserenr;
	uint64_t pmevcntr[FAKE_NEVENT + 1];  /* the last is PMCCNTR_EL0 */
	uint64_t pmevtyper[FAKE_NEVENT + 1]; /* and PMCCFILTR_EL0 */
	uint64_t unnoticed; /* overflows PMOVS does not show yet */
	uint64_t timer;     /* when they will be; 0: never */
	uint64_t since;     /* the interrupt is asked for; 0: it is not */
	unsigned el;        /* where instructions last retired */
	/* written, and not certain before the next ISB */
	bool unsure_pmcr, unsure_pmcnten, unsure_pminten, unsure_pmovs;
	bool unsure_pmuserenr;
	uint64_t unsure_pmevcntr, unsure_pmevtyper;
	bool counted;          /* since the last ISB */
	unsigned isbs, starts; /* and writes of PMCNTENSET_EL0 */
	unsigned touched;      /* accesses of registers */
};
extern struct fake_pmu fake_pmu[FAKE_NCPU];
extern struct fake_shape fake_shape;
extern unsigned fake_self; /* the CPU we are on */

/* Rules broken; the test fails at the first unless it wants to count them. */
extern unsigned fake_faults;
extern bool fake_counts_faults;
/* The nth ISB from now does nothing; 0: all work. */
extern unsigned fake_lost_isb;

/* All CPUs alike, as out of reset: with anything in them; then on CPU 0. */
void fake_reset(const struct fake_shape *shape);
/* n instructions retire at EL0, EL1 or EL2; they rely on all that was written.
 */
void fake_run(unsigned el, uint64_t n);
/* ISR_EL1.I */
bool fake_pending(void);
/* PIC n, read at EL0.  False: the access is trapped. */
bool fake_el0_read(unsigned n, uint64_t *v);

#endif /* TESTS_LIB_HOST_FAKE_PMU_H */
