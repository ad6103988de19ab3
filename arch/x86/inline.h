/*
 * What is an instruction or two here, and that kern/arch.h and kern/lwp.h
 * declare as functions.  The Makefile includes it at the head of every file of
 * the kernel.
 */
#ifndef ARCH_X86_INLINE_H
#define ARCH_X86_INLINE_H

#include <stdint.h>

struct cpu;
struct lwp;
struct trapframe;

/* Static before they are declared without it. */
static inline struct cpu *arch_curcpu(void);
static inline struct lwp *lwp_self(void);
static inline uint64_t arch_tick(void);
static inline uintptr_t tf_pc(const struct trapframe *tf);
static inline uintptr_t tf_sp(const struct trapframe *tf);
static inline void arch_pmi_rearm(void);

#include "arch/x86/apic.h"
#include "arch/x86/insn.h"
#include "arch/x86/x86.h"
#include "kern/cpu.h"

static inline struct cpu *
arch_curcpu(void)
{
	struct cpu *c;

	/* Volatile: a switch of LWPs may lead to another CPU. */
	__asm__ volatile("mov %%gs:%c1, %0"
			 : "=r"(c)
			 : "i"(offsetof(struct x86_cpu, xc_cpu)));
	return c;
}

static inline struct lwp *
lwp_self(void)
{
	return arch_curcpu()->c_lwp;
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

/*
 * Intel's delivery of the interrupt masks its LVT entry.  Intel SDM vol. 3B,
 * "Generating an Interrupt on Overflow".
 */
static inline void
arch_pmi_rearm(void)
{
	uint64_t lvt;

	/* x86_self()->xc_pmi, by one instruction: all overflows come here. */
	__asm__ volatile("mov %%gs:%c1, %0"
			 : "=r"(lvt)
			 : "i"(offsetof(struct x86_cpu, xc_pmi)));
	x86_apic_write(APIC_LVT_PMI, lvt);
}

#endif /* ARCH_X86_INLINE_H */
