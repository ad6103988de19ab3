/*
 * Floating-point, vector and the other extended state of an LWP.  It stays
 * in the registers while the kernel runs, which uses none of it, and moves
 * only when another LWP with such state comes.  Included by arch/x86/.
 */
#ifndef ARCH_X86_TRAP_FPU_H
#define ARCH_X86_TRAP_FPU_H

#include <stddef.h>

/* Learn how much there is.  Once, after XCR0 was set. */
void x86_fpu_init(void);
size_t x86_fpu_bytes(void);

void *x86_fpu_alloc(void); /* clean; NULL where memory is out */
void x86_fpu_free(void *area);
void x86_fpu_clear(void *area);
void x86_fpu_save(void *area);
void x86_fpu_load(const void *area);

/*
 * In a signal's frame, as Linux has it (uapi/asm/sigcontext.h): an FXSAVE or
 * XSAVE area, aligned to X86_FPU_ALIGN, that says in its bytes of software's
 * which it is (sigcopy.S).
 */
#define X86_FPU_ALIGN 64
extern size_t x86_fpu_frame_bytes;
/* The registers become clean. */
void x86_fpu_reset(void);

#endif /* ARCH_X86_TRAP_FPU_H */
