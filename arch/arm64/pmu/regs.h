/*
 * The PMU's registers, with one function for each access.  Only the PMUv3
 * backend includes this, so that a test can replace it by a fake with the same
 * names.
 * Arm ARM (DDI 0487), "Performance Monitors registers".
 */
#ifndef ARCH_ARM64_PMU_REGS_H
#define ARCH_ARM64_PMU_REGS_H

#include <stdint.h>

#include "arch/arm64/sysreg.h"

#define PMU_NEVENT_MAX 31

#define PMCR_E    (1ULL << 0) /* run the counters of PMCNTENSET_EL0 */
#define PMCR_P    (1ULL << 1) /* write: event counters to 0 */
#define PMCR_C    (1ULL << 2) /* write: PMCCNTR_EL0 to 0 */
#define PMCR_LC   (1ULL << 6) /* PMCCNTR_EL0 has 64 bits */
#define PMCR_LP   (1ULL << 7) /* PMUv3p5: event counters have 64 bits */
#define PMCR_N(v) FIELD(v, 15, 11)

#define PMCNTEN_CYCLES (1ULL << 31) /* the bit of PMCCNTR_EL0 */

#define PMUSERENR_CR (1ULL << 2) /* EL0 reads PMCCNTR_EL0 */
#define PMUSERENR_ER (1ULL << 3) /* EL0 reads PMEVCNTR<n>_EL0 */

/* PMEVTYPER<n>_EL0 and PMCCFILTR_EL0: the levels at which to count. */
#define PMEVTYPER_P   (1ULL << 31) /* do not count at EL1 */
#define PMEVTYPER_U   (1ULL << 30) /* do not count at EL0 */
#define PMEVTYPER_NSH (1ULL << 27) /* count at EL2 */

/* ID_AA64DFR0_EL1.PMUVer */
#define PMUVER_NONE   0x0
#define PMUVER_V3P1   0x4 /* 16-bit events, upper halves of PMCEID */
#define PMUVER_V3P5   0x6 /* 64-bit event counters */
#define PMUVER_IMPDEF 0xf

#define PMU_REGISTER(name, reg)                                                \
	static inline uint64_t pmu_read_##name(void)                           \
	{                                                                      \
		return read_sysreg(reg);                                       \
	}                                                                      \
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

static inline uint64_t
pmu_read_pmceid0(void)
{
	return read_sysreg(pmceid0_el0);
}

static inline uint64_t
pmu_read_pmceid1(void)
{
	return read_sysreg(pmceid1_el0);
}

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

/* X(n) for each event counter, because a register's name contains its number.
 */
#define PMU_EACH_EVENT_COUNTER(X)                                              \
	X(0)                                                                   \
	X(1)                                                                   \
	X(2)                                                                   \
	X(3)                                                                   \
	X(4)                                                                   \
	X(5)                                                                   \
	X(6)                                                                   \
	X(7)                                                                   \
	X(8)                                                                   \
	X(9)                                                                   \
	X(10)                                                                  \
	X(11)                                                                  \
	X(12)                                                                  \
	X(13)                                                                  \
	X(14)                                                                  \
	X(15)                                                                  \
	X(16)                                                                  \
	X(17)                                                                  \
	X(18)                                                                  \
	X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30)

/* n must be less than PMCR_EL0.N. */
static inline uint64_t
pmu_read_pmevcntr(unsigned n)
{
	switch (n) {
#define READ(i)                                                                \
	case i:                                                                \
		return read_sysreg(pmevcntr##i##_el0);
		PMU_EACH_EVENT_COUNTER(READ)
#undef READ
	default:
		__builtin_unreachable();
	}
}

static inline void
pmu_write_pmevcntr(unsigned n, uint64_t v)
{
	switch (n) {
#define WRITE(i)                                                               \
	case i:                                                                \
		write_sysreg(pmevcntr##i##_el0, v);                            \
		break;
		PMU_EACH_EVENT_COUNTER(WRITE)
#undef WRITE
	default:
		__builtin_unreachable();
	}
}

/* Write event select and value of a counter, with one switch for both. */
static inline void
pmu_load(unsigned n, uint64_t select, uint64_t v)
{
	switch (n) {
#define LOAD(i)                                                                \
	case i:                                                                \
		write_sysreg(pmevtyper##i##_el0, select);                      \
		write_sysreg(pmevcntr##i##_el0, v);                            \
		break;
		PMU_EACH_EVENT_COUNTER(LOAD)
#undef LOAD
	default:
		__builtin_unreachable();
	}
}

#endif /* ARCH_ARM64_PMU_REGS_H */
