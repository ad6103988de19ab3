/*
 * The functions of kern/arch.h that take one or two instructions on x86.
 * Included by kern/arch.h only, which documents them.
 */
#pragma once

#include <stdint.h>

#include "arch/x86/dev/apic.h"
#include "arch/x86/insn.h"
#include "arch/x86/x86.h"

static inline struct cpu *
arch_curcpu(void)
{
	struct cpu *c;

	/* Volatile, because an LWP may continue on another CPU. */
	__asm__ volatile("mov %%gs:%c1, %0"
			 : "=r"(c)
			 : "i"(offsetof(struct x86_cpu, xc_cpu)));
	return c;
}

static inline uint64_t
arch_tick(void)
{
	return rdtsc();
}

static inline uintptr_t
tf_pc(const struct trapframe *tf)
{
	return tf->tf_rip;
}

static inline uintptr_t
tf_sp(const struct trapframe *tf)
{
	return tf->tf_rsp;
}

/* entry.S uses the same rule. */
static inline bool
tf_user(const struct trapframe *tf)
{
	return (tf->tf_cs & 3) != 0 || (int64_t)tf->tf_rip >= 0 ||
	       (int64_t)tf->tf_rsp >= 0;
}

/*
 * Intel masks the LVT entry when it delivers the interrupt.  Intel SDM vol. 3B,
 * "Generating an Interrupt on Overflow".
 */
static inline void
arch_pmi_rearm(void)
{
	uint64_t lvt;

	/* x86_self()->xc_pmi in one instruction, for every overflow. */
	__asm__ volatile("mov %%gs:%c1, %0"
			 : "=r"(lvt)
			 : "i"(offsetof(struct x86_cpu, xc_pmi)));
	x86_apic_write(APIC_LVT_PMI, lvt);
}
