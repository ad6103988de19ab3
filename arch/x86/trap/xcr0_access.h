/* Accesses to XCR0.  Host tests replace this file.  Included by xcr0.c. */
#pragma once

#include "arch/x86/asm.h"
#include "arch/x86/insn.h"
#include "arch/x86/x86.h"

static inline uint64_t
xcr0_read(void)
{
	return xgetbv(0);
}

static inline void
xcr0_write(uint64_t v)
{
	xsetbv(0, v);
}

/* Make XSAVE, and what depends on it, undefined on this CPU. */
static inline void
xcr0_close(void)
{
	x86_cr4 &= ~(uint64_t)(CR4_OSXSAVE | CR4_PKE);
	write_cr(4, x86_cr4);
}
