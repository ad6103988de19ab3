/*
 * The PMU's registers, with one function for each access.  Only the PMUv3
 * backend includes this, so that a test can replace it by a fake with the same
 * names.
 * Arm ARM (DDI 0487), "Performance Monitors registers".
 */
#pragma once

#include <stdint.h>

#include "arch/arm64/sysreg.h"

#define PMCR_E    (1ULL << 0) /* run the counters of PMCNTENSET_EL0 */
#define PMCR_P    (1ULL << 1) /* write: event counters to 0 */
#define PMCR_C    (1ULL << 2) /* write: PMCCNTR_EL0 to 0 */
#define PMCR_LC   (1ULL << 6) /* PMCCNTR_EL0 has 64 bits */
#define PMCR_LP   (1ULL << 7) /* PMUv3p5: event counters have 64 bits */
#define PMCR_FZO  (1ULL << 9) /* PMUv3p7: no event after an overflow */
#define PMCR_N(v) FIELD(v, 15, 11)

#define PMCNTEN_CYCLES (1ULL << 31) /* the bit of PMCCNTR_EL0 */

#define PMUSERENR_CR (1ULL << 2) /* EL0 reads PMCCNTR_EL0 */
#define PMUSERENR_ER (1ULL << 3) /* EL0 reads PMEVCNTR<n>_EL0 */

/* PMEVTYPER<n>_EL0 and PMCCFILTR_EL0: the levels at which to count. */
#define PMEVTYPER_P   (1ULL << 31) /* do not count at EL1 */
#define PMEVTYPER_U   (1ULL << 30) /* do not count at EL0 */
#define PMEVTYPER_NSH (1ULL << 27) /* count at EL2 */

/*
 * PMUv3_TH: count the cycles in which the event happens this often.  TE,
 * PMUv3_EDGE: of these, count those that follow one in which it does not.
 */
#define PMEVTYPER_TH(n)   ((uint64_t)(n) << 32)
#define PMEVTYPER_TE      (1ULL << 60)
#define PMEVTYPER_TC_NE   (1ULL << 61) /* not TH times */
#define PMEVTYPER_TC_GE   (5ULL << 61) /* TH times or more */
#define PMEVTYPER_TC_LT   (7ULL << 61)
#define PMMIR_THWIDTH(v)  FIELD(v, 23, 20) /* bits of TH; 0: no PMUv3_TH */
#define PMEVTYPER_TH_BITS 12U              /* more bits are reserved */
#define PMMIR_EDGE(v)     FIELD(v, 27, 24)

/* ID_AA64DFR0_EL1.PMUVer */
#define PMUVER_NONE   0x0
#define PMUVER_V3P1   0x4 /* 16-bit events, upper halves of PMCEID */
#define PMUVER_V3P5   0x6 /* 64-bit event counters */
#define PMUVER_V3P7   0x7 /* the first that may have PMUv3_TH */
#define PMUVER_IMPDEF 0xf

#define PMU_READ(name, reg)                                                    \
	static inline uint64_t pmu_read_##name(void)                           \
	{                                                                      \
		return read_sysreg(reg);                                       \
	}
#define PMU_REGISTER(name, reg)                                                \
	PMU_READ(name, reg)                                                    \
	static inline void pmu_write_##name(uint64_t v)                        \
	{                                                                      \
		write_sysreg(reg, v);                                          \
	}

PMU_REGISTER(pmcr, pmcr_el0)
PMU_REGISTER(pmcntenset, pmcntenset_el0)
PMU_REGISTER(pmcntenclr, pmcntenclr_el0)
PMU_REGISTER(pmintenset, pmintenset_el1)
PMU_REGISTER(pmintenclr, pmintenclr_el1)
PMU_REGISTER(pmovsclr, pmovsclr_el0)
PMU_REGISTER(pmuserenr, pmuserenr_el0)
PMU_REGISTER(pmccntr, pmccntr_el0)
PMU_REGISTER(pmccfiltr, pmccfiltr_el0)
PMU_READ(pmceid0, pmceid0_el0)
PMU_READ(pmceid1, pmceid1_el0)
PMU_READ(pmmir, PMMIR_EL1)

static inline unsigned
pmu_read_pmuver(void)
{
	return (unsigned)FIELD(read_sysreg(id_aa64dfr0_el1), 11, 8);
}

/* Writes take effect before the instructions that follow. */
static inline void
pmu_isb(void)
{
	isb();
}

/*
 * Event counter n, which must be less than PMCR_EL0.N, where the number is not
 * part of the code.  A program with open user reads may have selected another
 * one, so select that again afterwards.
 * Arm ARM (DDI 0487), "PMSELR_EL0", "PMXEVCNTR_EL0", "PMXEVTYPER_EL0".
 */
static inline uint64_t
pmu_select(unsigned n)
{
	uint64_t was = read_sysreg(pmselr_el0);

	write_sysreg(pmselr_el0, n);
	isb();
	return was;
}

static inline void
pmu_write_pmevcntr(unsigned n, uint64_t v)
{
	uint64_t was = pmu_select(n);

	write_sysreg(pmxevcntr_el0, v);
	write_sysreg(pmselr_el0, was);
}

/* Its event select, too. */
static inline void
pmu_load(unsigned n, uint64_t select, uint64_t v)
{
	uint64_t was = pmu_select(n);

	write_sysreg(pmxevcntr_el0, v);
	write_sysreg(pmxevtyper_el0, select);
	write_sysreg(pmselr_el0, was);
}
