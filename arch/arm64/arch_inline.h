/*
 * The functions of kern/arch.h that are an instruction or two on arm64.
 * Included by kern/arch.h alone, which says what each does.
 */
#ifndef ARCH_ARM64_ARCH_INLINE_H
#define ARCH_ARM64_ARCH_INLINE_H

#include "arch/arm64/arm64.h"

/* TPIDR_EL1 holds this CPU's struct cpu.  Arm ARM (DDI 0487), "TPIDR_EL1". */
static inline struct cpu *
arch_curcpu(void)
{
	struct cpu *c;

	/* Volatile: a switch of LWPs may lead to another CPU. */
	__asm__ volatile("mrs %0, tpidr_el1" : "=r"(c));
	return c;
}

/* The barrier: the read may not be done early. */
static inline uint64_t
arch_tick(void)
{
	uint64_t tick;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(tick) : : "memory");
	return tick;
}

/* The GIC lets the next one in by itself. */
static inline void
arch_pmi_rearm(void)
{
}

static inline uintptr_t
tf_pc(const struct trapframe *tf)
{
	return tf->tf_pc;
}

static inline uintptr_t
tf_sp(const struct trapframe *tf)
{
	return tf->tf_sp;
}

/* The kernel alone runs on its own stack pointer: EL1h. */
static inline bool
tf_user(const struct trapframe *tf)
{
	return (tf->tf_pstate & 0xf) != PSTATE_EL1H;
}

#endif /* ARCH_ARM64_ARCH_INLINE_H */
