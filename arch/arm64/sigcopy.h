/*
 * What sigcopy.S does.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_SIGCOPY_H
#define ARCH_ARM64_SIGCOPY_H

#include <stdint.h>

#include "kern/signal.h"

struct sigframe_user;
struct trapframe;

struct sigcopy_more {
	/* Behind the FPSIMD record, and before one of zeros: the end. */
	uint64_t sm_records[4];
	uint64_t sm_fault_address;
};

struct sigcopy_in {
	struct sigkept sn_kept;
	uint64_t sn_sp, sn_pc, sn_pstate;
	uint64_t sn_fpsimd;     /* the head of the first record */
	uint64_t sn_records[5]; /* where it ends if it is FPSIMD's */
};

/*
 * 0 or EFAULT.  out() writes all but SVE registers; in() reads x0..x30 into
 * tf and the rest into *in; fpsimd() loads the registers of that record.
 */
int arm64_sigcopy_out(struct sigframe_user *to, const struct trapframe *tf,
    const struct sigframe *sf, const struct sigcopy_more *more);
int arm64_sigcopy_in(const struct sigframe_user *from, struct trapframe *tf,
    struct sigcopy_in *in);
int arm64_sigcopy_fpsimd(const void *record);

/* Where a fault means EFAULT, and where that is said. */
extern char arm64_sigcopy_start[], arm64_sigcopy_end[], arm64_sigcopy_failed[];

#endif /* ARCH_ARM64_SIGCOPY_H */
