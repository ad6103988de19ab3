/*
 * What sigcopy.S does.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_SIGCOPY_H
#define ARCH_ARM64_SIGCOPY_H

#include <stdint.h>

struct sigframe_user;
struct siginfo;
struct trapframe;

/* A frame's uc_stack and uc_sigmask as they lie there. */
struct sigcopy_context {
	uint64_t sc_stack_sp, sc_stack_flags, sc_stack_bytes;
	uint64_t sc_mask;
};

struct sigcopy_out {
	struct sigcopy_context so_context;
	uint64_t so_fault_address;
	/* Behind the FPSIMD record, and before one of zeros: the end. */
	uint64_t so_records[4];
};

struct sigcopy_in {
	struct sigcopy_context sn_context;
	uint64_t sn_sp, sn_pc, sn_pstate;
	uint64_t sn_fpsimd;     /* the head of the first record */
	uint64_t sn_records[3]; /* where it ends if it is FPSIMD's */
};

/*
 * 0 or EFAULT.  out() writes all but SVE registers; in() reads x0..x30 into
 * tf and the rest into *more; fpsimd() loads the registers of that record.
 */
int arm64_sigcopy_out(struct sigframe_user *to, const struct trapframe *tf,
    const struct siginfo *info, const struct sigcopy_out *more);
int arm64_sigcopy_in(const struct sigframe_user *from, struct trapframe *tf,
    struct sigcopy_in *more);
int arm64_sigcopy_fpsimd(const void *record);

/* Where a fault means EFAULT, and where that is said. */
extern char arm64_sigcopy_start[], arm64_sigcopy_end[], arm64_sigcopy_failed[];

#endif /* ARCH_ARM64_SIGCOPY_H */
