/* The functions of sigcopy.S.  Included by arch/arm64/. */
#pragma once

#include <stdint.h>

#include "kern/proc/signal.h"

struct sigframe_user;
struct trapframe;

/* Contents of a frame that are neither registers nor in struct sigframe. */
struct sigcopy_more {
	uint64_t scm_fpsimd; /* head of the first record, fpsimd_context */
	uint64_t scm_fault_address;
	/* The next records: esr_context, and the head of sve_context. */
	uint64_t scm_records[4];
	uint64_t
	    scm_pstate; /* mask: the bits of PSTATE that the handler gets */
};
/* For an LWP that does not use SVE, and a signal that is not a fault. */
extern struct sigcopy_more arm64_sigcopy_common;

/*
 * Write a frame without SVE registers, and make tf enter the handler.  Returns
 * 0, or EFAULT with tf and the NEON registers unchanged.  The bits of z0 and z1
 * beyond NEON's are lost.
 */
int arm64_sigcopy_out(struct trapframe *tf, const struct sigframe *sf,
    struct sigframe_user *frame, const struct sigcopy_more *more);

/*
 * sigframe.c: the slow path of arch_sigframe_pop(), which is in sigcopy.S and
 * jumps here.  *kept and x0 to x30 already have the frame's values.
 */
int arm64_sigframe_pop(struct trapframe *tf, struct sigkept *kept);

/* A fault between start and end continues at failed, which returns EFAULT. */
extern char arm64_sigcopy_start[], arm64_sigcopy_end[], arm64_sigcopy_failed[];
