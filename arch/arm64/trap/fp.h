/*
 * Floating point, NEON and SVE state of payloads.  The kernel's own code
 * uses none of it, so it is saved at a switch of LWPs and at no other time.
 * Included by arch/arm64/.
 *
 * An LWP begins without SVE: its first SVE instruction traps.  Most never
 * execute one, and NEON's registers are a fifth of SVE's.
 */
#ifndef ARCH_ARM64_TRAP_FP_H
#define ARCH_ARM64_TRAP_FP_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/sysreg.h"
#include "kern/proc/lwp.h"

#define FP_ALIGN 16

/* An LWP's; `self` is the running LWP's, whose registers are in the CPU. */
struct arm64_fp {
	bool f_sve; /* SVE is on, and what is beyond NEON is kept */
	char f_regs[] __attribute__((aligned(FP_ALIGN)));
};

static inline struct arm64_fp *
arm64_fp_self(void)
{
	const struct arm64_lwp *al = lwp_self()->l_arch;

	return al->al_fp;
}

/* Is SVE on, so that the running LWP's f_sve is set? */
static inline bool
arm64_sve_on(void)
{
	return (read_sysreg(cpacr_el1) & CPACR_ZEN) != 0;
}

/* Let this CPU use what it has; the boot CPU's decides the size. */
void arm64_fp_cpu_init(void);
/* Bytes of a vector register under SVE, 0 where there is none. */
unsigned arm64_sve_bytes(void);

struct arm64_fp *arm64_fp_alloc(void); /* kfree() it; NULL: no memory */
/* NULL for a kernel thread, which has no such state. */
void arm64_fp_switch(struct arm64_fp *from, struct arm64_fp *to);
void arm64_fp_copy(struct arm64_fp *to, const struct arm64_fp *self);
void arm64_fp_clear(struct arm64_fp *self);
/* An SVE instruction trapped: false if it will again. */
bool arm64_fp_use_sve(struct arm64_fp *self);

/*
 * The records of a signal's frame (Linux, uapi/asm/sigcontext.h), FP_ALIGNed:
 * struct fpsimd_context, which is always there, and where the machine has SVE
 * struct sve_context, a head alone where the LWP does not use it.  With such
 * a one, or without, what is beyond the 128 bits becomes 0.  User memory:
 * called in arm64_try().
 */
#define FPSIMD_MAGIC   0x46508001
#define SVE_MAGIC      0x53564501
#define SVE_HEAD_BYTES 16
size_t arm64_sve_frame_bytes(const struct arm64_fp *self);
void arm64_sve_save_frame(const struct arm64_fp *self, void *record);
/* Is this an SVE record of this machine? */
bool arm64_sve_frame_good(const void *record);
void arm64_fp_load_frame(
    struct arm64_fp *self, const void *fpsimd, const void *sve);

#endif /* ARCH_ARM64_TRAP_FP_H */
