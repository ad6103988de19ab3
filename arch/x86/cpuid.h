/* CPUID, and the features of the boot CPU.  Included by arch/x86/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpuid_regs {
	uint32_t a, b, c, d;
};

/* Returns zeros if the leaf is beyond the maximum of its range. */
struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf);

/* Is this bit of a register of a leaf 1? */
enum { CPUID_EAX, CPUID_EBX, CPUID_ECX, CPUID_EDX };
static inline bool
cpuid_has(uint32_t leaf, unsigned reg, unsigned bit)
{
	struct cpuid_regs r = cpuid(leaf, 0);

	return ((const uint32_t[]){ r.a, r.b, r.c, r.d }[reg] >> bit & 1) != 0;
}

struct x86_features {
	char vendor[13];
	char brand[49];
	char hypervisor[13]; /* signature of leaf 40000000H, or empty */
	unsigned family, model, stepping;
	bool hypervised; /* runs under a hypervisor: CPUID.1:ECX[31] */
	bool mca;        /* machine-check banks */
	bool apic, x2apic, tsc_deadline, invariant_tsc;
	bool nx, gib_pages, smep, smap, umip, pku;
	bool xsave, xsaveopt;
	uint64_t xcr0; /* all state the CPU offers; 0: without XSAVE */
};
extern struct x86_features x86_features;

void x86_features_init(void);
/* Make this CPU report all its leaves: x86_features_init(), on the boot CPU. */
void x86_cpuid_unlimit(void);
