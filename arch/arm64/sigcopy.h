/*
 * What sigcopy.S does.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_SIGCOPY_H
#define ARCH_ARM64_SIGCOPY_H

#include <stdint.h>

#include "kern/signal.h"

struct sigframe_user;
struct trapframe;

/* What out() writes besides registers and *sf. */
struct sigcopy_more {
	uint64_t sm_fpsimd; /* the head of the first record */
	uint64_t sm_fault_address;
	/* Behind that record, and before one of zeros: the end. */
	uint64_t sm_records[4];
	uint64_t sm_pstate; /* of PSTATE, what the handler starts with */
};

/* What in() reads besides. */
struct sigcopy_in {
	uint64_t
	    sn_records[5];  /* behind the first record, if that is FPSIMD's */
	uint64_t sn_fpsimd; /* which this tells */
	uint64_t sn_sp, sn_pc, sn_pstate;
};

/*
 * Write all but SVE registers, and have tf enter the handler.  0, or EFAULT
 * and tf and NEON's registers are as they were.  Of SVE's, z0 and z1 lose
 * what is beyond NEON.
 */
int arm64_sigcopy_out(struct trapframe *tf, const struct sigframe *sf,
    struct sigframe_user *frame, const struct sigcopy_more *more);
/*
 * Read x0..x30 into tf, *kept, and NEON's registers into themselves.  0 or
 * EFAULT; then these are anything.
 */
int arm64_sigcopy_in(struct trapframe *tf, struct sigkept *kept,
    const struct sigframe_user *frame, struct sigcopy_in *more);

/* Where a fault means EFAULT, and where that is said. */
extern char arm64_sigcopy_start[], arm64_sigcopy_end[], arm64_sigcopy_failed[];

#endif /* ARCH_ARM64_SIGCOPY_H */
