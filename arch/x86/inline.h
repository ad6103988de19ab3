/*
 * Who runs, and when, in a few instructions: what kern/arch.h and kern/lwp.h
 * declare as functions.  The Makefile includes it at the head of every file of
 * the kernel.
 */
#ifndef ARCH_X86_INLINE_H
#define ARCH_X86_INLINE_H

#include <stdint.h>

struct cpu;
struct lwp;

/* Static before they are declared without it. */
static inline struct cpu *arch_curcpu(void);
static inline struct lwp *lwp_self(void);
static inline uint64_t arch_tick(void);

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

#endif /* ARCH_X86_INLINE_H */
