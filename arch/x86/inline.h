/*
 * Who runs, in an instruction or two: what kern/arch.h and kern/lwp.h declare
 * as functions.  The Makefile includes it at the head of every file of the
 * kernel.
 */
#ifndef ARCH_X86_INLINE_H
#define ARCH_X86_INLINE_H

struct cpu;
struct lwp;

/* Static before they are declared without it. */
static inline struct cpu *arch_curcpu(void);
static inline struct lwp *lwp_self(void);

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

#endif /* ARCH_X86_INLINE_H */
