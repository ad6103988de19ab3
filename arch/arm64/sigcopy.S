/*
 * A signal's frame, written and read in place, in user memory: the parts
 * that every frame has.  struct sigframe_user is Linux's (sigframe.c); offsets in
 * asm.h.  A fault anywhere between arm64_sigcopy_start and arm64_sigcopy_end
 * goes on at arm64_sigcopy_failed, so nothing here has anything on the stack.
 */
#include "arch/arm64/asm.h"

#define EFAULT 14

/* FPSIMD_MAGIC and its size, a record's first eight bytes. */
#define FPSIMD_HEAD_LOW  0x46508001
#define FPSIMD_HEAD_HIGH 528

	.text

	/* Where there is PSTATE.PAN, which old assemblers do not know. */
	.macro	set_pan value
	adrp	x17, arm64_has_pan
	ldrb	w17, [x17, #:lo12:arm64_has_pan]
	cbz	w17, 8f
	.inst	0xd500409f | (\value << 8)	/* msr pan, #value */
8:
	.endm

	.macro	copy_pairs to, from, pairs:vararg
	.irp	n, \pairs
	ldp	x10, x11, [\from, #16 * \n]
	stp	x10, x11, [\to, #16 * \n]
	.endr
	.endm

	.macro	each_q op
	\op	q0, q1, [x9, #16]
	\op	q2, q3, [x9, #48]
	\op	q4, q5, [x9, #80]
	\op	q6, q7, [x9, #112]
	\op	q8, q9, [x9, #144]
	\op	q10, q11, [x9, #176]
	\op	q12, q13, [x9, #208]
	\op	q14, q15, [x9, #240]
	\op	q16, q17, [x9, #272]
	\op	q18, q19, [x9, #304]
	\op	q20, q21, [x9, #336]
	\op	q22, q23, [x9, #368]
	\op	q24, q25, [x9, #400]
	\op	q26, q27, [x9, #432]
	\op	q28, q29, [x9, #464]
	\op	q30, q31, [x9, #496]
	.endm

	.globl	arm64_sigcopy_start, arm64_sigcopy_end, arm64_sigcopy_failed
arm64_sigcopy_start:

/*
 * int arm64_sigcopy_out(struct sigframe_user *to, const struct trapframe *tf,
 *     const struct sigframe *sf, const struct sigcopy_more *more)
 */
	.globl	arm64_sigcopy_out
arm64_sigcopy_out:
	set_pan	0
	ldp	x9, x15, [x2, #SGF_INFO]
	copy_pairs x0, x9, 0, 1, 2		/* siginfo_t */
	stp	xzr, xzr, [x0, #SF_FLAGS]	/* uc_flags, uc_link */
	ldp	x10, x11, [x15]			/* uc_stack, uc_sigmask */
	ldp	x12, x13, [x15, #16]
	ldr	x14, [x3, #32]
	stp	x10, x11, [x0, #SF_STACK]
	stp	x12, x13, [x0, #SF_STACK + 16]
	str	x14, [x0, #SF_FAULT]
	add	x9, x0, #SF_X
	copy_pairs x9, x1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ldp	x10, x11, [x1, #TF_PC]
	stp	x10, x11, [x9, #256]
	add	x9, x0, #SF_RECORDS
	mov	w10, #(FPSIMD_HEAD_LOW & 0xffff)
	movk	w10, #(FPSIMD_HEAD_LOW >> 16), lsl #16
	mov	w11, #FPSIMD_HEAD_HIGH
	stp	w10, w11, [x9]
	mrs	x10, fpsr
	mrs	x11, fpcr
	stp	w10, w11, [x9, #8]
	each_q	stp
	add	x9, x9, #FPSIMD_HEAD_HIGH
	ldp	x10, x11, [x3]
	ldp	x12, x13, [x3, #16]
	stp	x10, x11, [x9]
	stp	x12, x13, [x9, #16]
	stp	xzr, xzr, [x9, #32]
	ldp	x10, x11, [x1, #TF_X(29)]	/* behind all records: see there */
	add	x9, x0, #SF_FRAME_HIGH
	add	x9, x9, #SF_FRAME_LOW
	stp	x10, x11, [x9]
	set_pan	1
	mov	x0, #0
	ret

/*
 * int arm64_sigcopy_in(const struct sigframe_user *from, struct trapframe *tf,
 *     struct sigcopy_in *in)
 */
	.globl	arm64_sigcopy_in
arm64_sigcopy_in:
	set_pan	0
	add	x9, x0, #SF_STACK
	copy_pairs x2, x9, 0, 1
	add	x9, x0, #SF_X
	ldp	x10, x11, [x9, #248]		/* sp, pc */
	ldr	x12, [x9, #264]
	stp	x10, x11, [x2, #32]
	str	x12, [x2, #48]
	copy_pairs x1, x9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	ldr	x10, [x9, #240]
	str	x10, [x1, #240]
	add	x9, x0, #SF_RECORDS
	ldr	x10, [x9]
	add	x9, x9, #FPSIMD_HEAD_HIGH
	ldp	x11, x12, [x9]
	ldp	x13, x14, [x9, #16]
	ldr	x15, [x9, #32]
	stp	x10, x11, [x2, #56]
	stp	x12, x13, [x2, #72]
	stp	x14, x15, [x2, #88]
	set_pan	1
	mov	x0, #0
	ret

/* int arm64_sigcopy_fpsimd(const void *record) */
	.globl	arm64_sigcopy_fpsimd
arm64_sigcopy_fpsimd:
	set_pan	0
	mov	x9, x0
	ldp	w10, w11, [x9, #8]
	msr	fpsr, x10
	msr	fpcr, x11
	each_q	ldp
	set_pan	1
	mov	x0, #0
	ret

arm64_sigcopy_failed:
	set_pan	1
	mov	x0, #EFAULT
	ret
arm64_sigcopy_end:
