/*
 * A CPU with a list of CPUID leaves and one of model-specific registers, for
 * code that uses x86_rdmsr_safe().  Any other register faults.  Included by
 * host tests.
 */
#pragma once

#include <stdint.h>

#include "arch/x86/cpuid.h"

#define FAKE_LEAVES 8
#define FAKE_REGS   16

struct fake_part {
	struct x86_features features; /* vendor, family, model, hypervised */
	struct {
		uint32_t leaf;
		struct cpuid_regs regs;
	} leaves[FAKE_LEAVES];
	struct fake_reg {
		uint32_t msr;
		uint64_t value;
		/* Bits that a write changes.  0: a write faults. */
		uint64_t writable;
		uint64_t clears; /* bits that only a 0 changes */
	} regs[FAKE_REGS];
};

/* The code runs on a copy of this part from now on. */
void fake_part(const struct fake_part *part);
/* A register of that copy, which it must have. */
struct fake_reg *fake_reg(uint32_t msr);
/* Does each register of the copy have the part's value? */
bool fake_is_as_was(const struct fake_part *part);
/* The number of accesses that faulted. */
extern unsigned fake_faults;
/* The next result of x86_mcheck_take(). */
extern unsigned fake_errors;
