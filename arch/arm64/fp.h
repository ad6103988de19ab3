/*
 * Floating point, NEON and SVE state of payloads.  The kernel's own code
 * uses none of it, so it is saved at a switch of LWPs and at no other time.
 * Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_FP_H
#define ARCH_ARM64_FP_H

#include <stddef.h>

/* Let this CPU use what it has; the boot CPU's decides the size. */
void arm64_fp_cpu_init(void);
/* Bytes of a save area, and its alignment. */
size_t arm64_fp_bytes(void);
#define FP_ALIGN 16
/* Bytes of a vector register under SVE, 0 where there is none. */
unsigned arm64_sve_bytes(void);

void arm64_fp_save(void *area);
void arm64_fp_load(const void *area);
void arm64_fp_clear(void);

/*
 * The records of a signal's frame (Linux, uapi/asm/sigcontext.h), FP_ALIGNed:
 * struct fpsimd_context, which is always there, and struct sve_context, where
 * arm64_sve_frame_bytes() is not 0; without one what is beyond the 128 bits
 * becomes 0.  User memory: called in arm64_try().
 */
#define FPSIMD_FRAME_BYTES 528
size_t arm64_sve_frame_bytes(void);
void arm64_fp_save_frame(void *fpsimd, void *sve);
void arm64_fp_load_frame(const void *fpsimd, const void *sve);

#endif /* ARCH_ARM64_FP_H */
