/*
 * The instructions that reach performance counters, each by a function.
 * Included by the backends of arch/x86/ and by nothing else, so that a test
 * can put a file of registers of its own behind the same names.
 */
#ifndef ARCH_X86_PMU_ACCESS_H
#define ARCH_X86_PMU_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/dev/apic.h"
#include "arch/x86/insn.h"
#include "arch/x86/x86.h"

static inline uint64_t
pmu_rdmsr(uint32_t msr)
{
	return rdmsr(msr);
}

static inline void
pmu_wrmsr(uint32_t msr, uint64_t v)
{
	wrmsr(msr, v);
}

/* The same where the register may not be there: 0, or an errno. */
static inline int
pmu_rdmsr_safe(uint32_t msr, uint64_t *v)
{
	return x86_rdmsr_safe(msr, v);
}

static inline int
pmu_wrmsr_safe(uint32_t msr, uint64_t v)
{
	return x86_wrmsr_safe(msr, v);
}

static inline uint64_t
pmu_rdpmc(uint32_t index)
{
	uint64_t lo, hi; /* 32 bits each: it clears the others */

	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(index));
	return hi << 32 | lo;
}

/*
 * What was executed before has retired, so that RDPMC, which waits for
 * nothing, counts it.  Intel SDM vol. 2B, "RDPMC"; vol. 2A, "LFENCE".  AMD's
 * waits where AMD_DE_CFG says so.
 */
static inline void
pmu_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

/*
 * CR4.PCE: RDPMC outside ring 0.  Nothing else in CR4 ever changes.
 * Intel SDM vol. 3A, "Control Registers".
 */
static inline void
pmu_open_reads(void)
{
	write_cr(4, x86_cr4 | CR4_PCE);
}

static inline void
pmu_close_reads(void)
{
	write_cr(4, x86_cr4);
}

/*
 * Overflows interrupt by an NMI, or by their vector; unmasked, too.
 * Intel SDM vol. 3A, "Local Vector Table".
 */
static inline void
pmu_deliver(bool nmi)
{
	x86_self()->xc_pmi = nmi ? APIC_LVT_NMI : VEC_PMI;
	x86_apic_write(APIC_LVT_PMI, x86_self()->xc_pmi);
}

/* Have kcpc_pmi() called as soon as interrupts are let in. */
static inline void
pmu_hand_over(void)
{
	x86_apic_send_self(VEC_PMI);
}

static inline uint64_t
pmu_rdtsc(void)
{
	return rdtsc();
}

/* Two instructions an iteration; n > 0. */
#define PMU_SPIN_INSNS 2
static inline void
pmu_spin(uint64_t n)
{
	__asm__ volatile("1: dec %0\n"
			 "   jnz 1b"
			 : "+r"(n)
			 :
			 : "cc");
}

#endif /* ARCH_X86_PMU_ACCESS_H */
