/*
 * Who runs, in an instruction or two: what kern/arch.h and kern/lwp.h declare
 * as functions.  The Makefile includes it at the head of every file of the
 * kernel.
 */
#ifndef ARCH_ARM64_INLINE_H
#define ARCH_ARM64_INLINE_H

struct cpu;
struct lwp;

/* Static before they are declared without it. */
static inline struct cpu *arch_curcpu(void);
static inline struct lwp *lwp_self(void);

#include "kern/cpu.h"

/* TPIDR_EL1 holds this CPU's struct cpu.  Arm ARM (DDI 0487), "TPIDR_EL1". */
static inline struct cpu *
arch_curcpu(void)
{
	struct cpu *c;

	/* Volatile: a switch of LWPs may lead to another CPU. */
	__asm__ volatile("mrs %0, tpidr_el1" : "=r"(c));
	return c;
}

static inline struct lwp *
lwp_self(void)
{
	return arch_curcpu()->c_lwp;
}

#endif /* ARCH_ARM64_INLINE_H */
