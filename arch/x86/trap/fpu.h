/*
 * The extended state of an LWP: floating-point, vector and other registers.
 * The kernel does not use them, so they keep their values until another LWP
 * with extended state runs.  Included by arch/x86/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Enable all state that this CPU offers.  If XCR0 of the boot CPU does not hold
 * it, change x86_features: the kernel then saves less.
 */
void x86_fpu_enable(bool boot_cpu);
void x86_fpu_report(void); /* log a line if XCR0 did not hold it */
/* Find out the size of the state.  Call once, after XCR0 is set. */
void x86_fpu_init(void);
extern size_t x86_fpu_bytes;

/* A clean area, for kfree(), or NULL without memory. */
void *x86_fpu_alloc(void);
void x86_fpu_clear(void *area);
void x86_fpu_save(void *area);
void x86_fpu_load(const void *area);

/*
 * The size of the FXSAVE or XSAVE area in a signal's frame, which is aligned to
 * X86_FPU_ALIGN.  Its bytes for software say which of them it is (sigcopy.S).
 * Linux, uapi/asm/sigcontext.h.
 */
#define X86_FPU_ALIGN 64
extern size_t x86_fpu_frame_bytes;
