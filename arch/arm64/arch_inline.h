/*
 * The functions of kern/arch.h that take an instruction or two on arm64.
 * Included by kern/arch.h only, which describes each.
 */
#pragma once

#include "arch/arm64/arm64.h"

/* TPIDR_EL1 holds this CPU's struct cpu.  Arm ARM (DDI 0487), "TPIDR_EL1". */
static inline struct cpu *
arch_curcpu(void)
{
	struct cpu *c;

	/* Volatile: after a switch the LWP may run on another CPU. */
	__asm__ volatile("mrs %0, tpidr_el1" : "=r"(c));
	return c;
}

/* Without the ISB the CPU may read the counter early. */
static inline uint64_t
arch_tick(void)
{
	uint64_t tick;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(tick) : : "memory");
	return tick;
}

/* The GIC delivers the next overflow interrupt without being told to. */
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

/* EL1h is the kernel's mode; payloads run at EL0 or EL1t. */
static inline bool
tf_user(const struct trapframe *tf)
{
	return (tf->tf_pstate & 0xf) != PSTATE_EL1H;
}
