/*
 * Floating point, NEON and SVE state of payloads.  Included by arch/arm64/.
 *
 * The kernel's own code does not use these registers, so they are saved only
 * when the CPU switches LWPs.  An LWP starts without SVE, and its first SVE
 * instruction traps.  Most LWPs never execute one, and NEON's registers are a
 * fifth of SVE's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/sysreg.h"
#include "kern/proc/lwp.h"

#define FP_ALIGN 16

/*
 * The FP state of an LWP.  An argument `self` is the running LWP's, whose
 * registers are in the CPU.
 */
struct arm64_fp {
	bool f_sve; /* SVE is on, and f_regs holds all of its registers */
	char f_regs[] __attribute__((aligned(FP_ALIGN)));
};

static inline struct arm64_fp *
arm64_fp_self(void)
{
	const struct arm64_lwp *al = lwp_self()->l_arch;

	return al->al_fp;
}

/* Is SVE on?  It is if the running LWP's f_sve is set. */
static inline bool
arm64_sve_on(void)
{
	return (read_sysreg(cpacr_el1) & CPACR_ZEN) != 0;
}

/* Enable this CPU's FP.  The length of SVE vectors is the boot CPU's. */
void arm64_fp_cpu_init(void);
/* Bytes of an SVE vector register, or 0 without SVE. */
unsigned arm64_sve_bytes(void);

/* Returns NULL if there is no memory.  Free the state with kfree(). */
struct arm64_fp *arm64_fp_alloc(void);
/* An argument is NULL for a kernel thread, which has no FP state. */
void arm64_fp_switch(struct arm64_fp *from, struct arm64_fp *to);
void arm64_fp_copy(struct arm64_fp *to, const struct arm64_fp *self);
void arm64_fp_clear(struct arm64_fp *self);
/*
 * Turn SVE on, after an SVE instruction trapped.  Returns false if that does
 * not help, because there is no SVE or it is on.
 */
bool arm64_fp_use_sve(struct arm64_fp *self);

/*
 * The FP records of a signal's frame (Linux, uapi/asm/sigcontext.h), aligned
 * to FP_ALIGN.  A frame always has a struct fpsimd_context.  On a machine with
 * SVE it also has a struct sve_context, of only a head if the LWP does not use
 * SVE.  Without SVE registers in the frame, loading it turns SVE off.
 *
 * The records are user memory: call these in arm64_try().
 */
#define FPSIMD_MAGIC   0x46508001
#define SVE_MAGIC      0x53564501
#define SVE_HEAD_BYTES 16
/* The size of the SVE record that arm64_sve_save_frame() writes. */
size_t arm64_sve_frame_bytes(const struct arm64_fp *self);
void arm64_sve_save_frame(const struct arm64_fp *self, void *record);
/* Do vector length and size of this SVE record fit this machine? */
bool arm64_sve_frame_good(const void *record);
/* `sve` is NULL if the frame has no SVE record. */
void arm64_fp_load_frame(
    struct arm64_fp *self, const void *fpsimd, const void *sve);
