/*
 * The instructions that access performance counters, a function for each.
 * Only arch/x86/pmu/ includes this file.  Host tests replace it by a file of
 * the same functions, over registers in memory.
 */
#pragma once

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

/* The same for a register that may be missing.  Returns 0 or an errno. */
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
	uint64_t lo, hi; /* RDPMC clears the upper 32 bits of both */

	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(index));
	return hi << 32 | lo;
}

/*
 * Wait until all earlier instructions have retired.  RDPMC does not wait, so
 * it could miss some of them.  On AMD, LFENCE waits if AMD_DE_CFG says so.
 * Intel SDM vol. 2B, "RDPMC"; vol. 2A, "LFENCE".
 */
static inline void
pmu_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

/*
 * CR4.PCE allows RDPMC outside ring 0.  The other bits of CR4 never change.
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
 * Make overflows raise an NMI, or the interrupt VEC_PMI, and unmask them.
 * Intel SDM vol. 3A, "Local Vector Table".
 */
static inline void
pmu_deliver(bool nmi)
{
	x86_self()->xc_pmi = nmi ? APIC_LVT_NMI : VEC_PMI;
	x86_apic_write(APIC_LVT_PMI, x86_self()->xc_pmi);
}

/* Make the CPU call kcpc_pmi() as soon as interrupts are enabled. */
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

/* A loop of PCBE_SPIN_INSNS instructions an iteration.  n must not be 0. */
static inline void
pmu_spin(uint64_t n)
{
	__asm__ volatile("1: dec %0\n"
			 "   jnz 1b"
			 : "+r"(n)
			 :
			 : "cc");
}
