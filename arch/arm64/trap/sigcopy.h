/*
 * What sigcopy.S does.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_TRAP_SIGCOPY_H
#define ARCH_ARM64_TRAP_SIGCOPY_H

#include <stdint.h>

#include "kern/proc/signal.h"

struct sigframe_user;
struct trapframe;

/* What out() writes besides registers and *sf. */
struct sigcopy_more {
	uint64_t scm_fpsimd; /* the head of the first record */
	uint64_t scm_fault_address;
	/* Behind that record, and before one of zeros: ESR's, and SVE's. */
	uint64_t scm_records[4];
	uint64_t scm_pstate; /* of PSTATE, what the handler starts with */
};
/* Without SVE's registers, and where no fault brought the frame about. */
extern struct sigcopy_more arm64_sigcopy_usual;

/*
 * Write all but SVE registers, and have tf enter the handler.  0, or EFAULT
 * and tf and NEON's registers are as they were.  Of SVE's, z0 and z1 lose
 * what is beyond NEON.
 */
int arm64_sigcopy_out(struct trapframe *tf, const struct sigframe *sf,
    struct sigframe_user *frame, const struct sigcopy_more *more);

/*
 * arch_sigframe_pop() is here, too.  It ends here where there is more to a
 * frame than usual: *kept and x0 to x30 are as the frame has them.
 */
int arm64_sigframe_pop(struct trapframe *tf, struct sigkept *kept);

/* Where a fault means EFAULT, and where that is said. */
extern char arm64_sigcopy_start[], arm64_sigcopy_end[], arm64_sigcopy_failed[];

#endif /* ARCH_ARM64_TRAP_SIGCOPY_H */
