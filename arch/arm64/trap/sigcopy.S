/*
 * Writes and reads, in user memory, the parts that every signal's frame has.
 * The frame is struct sigframe_user of sigframe.c; asm.h has the offsets.
 *
 * If an access between arm64_sigcopy_start and arm64_sigcopy_end faults, trap.c
 * continues at arm64_sigcopy_failed.  So this code must not use the stack.
 *
 * A NEON register holds twice as much as a general one.  Once all NEON
 * registers are in the frame, q0 and q1 copy the rest of it; then they are
 * loaded again.
 */
#include "arch/arm64/asm.h"
#include "arch/arm64/trap/pairs.inc"

#define EFAULT 14

	.text

	tf	.req x0
	sf	.req x1
	kept	.req x1
	frame	.req x2
	more	.req x3

	/*
	 * Set PSTATE.PAN if w17 says that the CPU has it.  Old assemblers do
	 * not know it.
	 */
	.macro	set_pan value
	cbz	w17, 8f
	.inst	0xd500409f | (\value << 8)	/* msr pan, #value */
8:
	.endm

	.macro	open_user
	adrp	x17, arm64_has_pan
	ldrb	w17, [x17, #:lo12:arm64_has_pan]
	set_pan	0
	.endm

	/* Copy 32 bytes for each number. */
	.macro	copy_qs to, from, numbers:vararg
	.irp	n, \numbers
	ldp	q0, q1, [\from, #32 * \n]
	stp	q0, q1, [\to, #32 * \n]
	.endr
	.endm

	.globl	arm64_sigcopy_start, arm64_sigcopy_end, arm64_sigcopy_failed
arm64_sigcopy_start:

/*
 * int arm64_sigcopy_out(struct trapframe *tf, const struct sigframe *sf,
 *     struct sigframe_user *frame, const struct sigcopy_more *more)
 *
 * The two ends of the frame and the NEON registers are written first.  They
 * touch every page of the frame, so nothing faults after q0 or tf has changed.
 */
	.globl	arm64_sigcopy_out
arm64_sigcopy_out:
	open_user
	ldp	x10, x11, [tf, #TF_X(29)]	/* to fp and lr after the records */
	add	x8, frame, #SF_FRAME_HIGH
	add	x8, x8, #SF_FRAME_LOW
	stp	x10, x11, [x8]
	ldp	x15, x16, [sf, #SGF_ACT]	/* and info */
	ldr	x14, [sf, #SGF_KEPT]
	ldp	x10, x11, [x16]
	stp	x10, x11, [frame]
	add	x9, frame, #SF_RECORDS
	ldp	x10, x11, [more, #SM_FPSIMD]	/* and fault address */
	mrs	x12, fpsr
	mrs	x13, fpcr
	str	x10, [x9]
	stp	w12, w13, [x9, #8]
	each_q	stp, x9, 16

	ldp	q0, q1, [x16, #16]		/* siginfo_t */
	stp	q0, q1, [frame, #16]
	stp	xzr, xzr, [frame, #SF_UCONTEXT]	/* uc_flags, uc_link */
	ldp	q0, q1, [x14]
	stp	q0, q1, [frame, #SF_STACK]	/* uc_stack, uc_sigmask */
	str	x11, [frame, #SF_FAULT]
	add	x10, frame, #SF_X
	copy_qs	x10, tf, 0, 1, 2, 3, 4, 5, 6, 7	/* x0 to sp */
	ldp	x11, x12, [tf, #TF_PC]
	stp	x11, x12, [x10, #256]
	ldp	q0, q1, [more, #SM_RECORDS]
	stp	q0, q1, [x9, #FPSIMD_FRAME_BYTES]
	str	xzr, [x9, #FPSIMD_FRAME_BYTES + 32]
	ldp	q0, q1, [x9, #16]
	set_pan	1

	ldr	x10, [more, #SM_PSTATE]
	ldr	x11, [x15, #SA_HANDLER]
	ldr	x13, [x15, #SA_RESTORER]
	ldrsw	x14, [x16]			/* si_signo */
	add	x15, frame, #SF_UCONTEXT
	and	x12, x12, x10
	stp	x14, frame, [tf, #TF_X(0)]
	str	x15, [tf, #TF_X(2)]
	stp	x8, x13, [tf, #TF_X(29)]
	stp	frame, x11, [tf, #TF_SP]	/* and pc */
	str	x12, [tf, #TF_PSTATE]
	mov	w0, #0
	ret

/*
 * int arch_sigframe_pop(struct trapframe *tf, struct sigkept *kept)
 *
 * The fast path.  It changes only x0 to x30 of tf before it has checked the
 * frame; arm64_sigframe_pop() does the rest if it is not a common one.
 */
	.globl	arch_sigframe_pop
arch_sigframe_pop:
	ldr	frame, [tf, #TF_SP]
	mov	x16, #USER_END
	sub	x10, x16, #(SF_BYTES & 0xfff)
	sub	x10, x10, #(SF_BYTES & ~0xfff)
	tst	frame, #15
	ccmp	frame, x10, #2, eq
	b.hi	arm64_sigframe_pop	/* misaligned, or beyond USER_TOP */
	open_user
	ldp	q0, q1, [frame, #SF_STACK]	/* uc_stack, uc_sigmask */
	stp	q0, q1, [kept]
	add	x9, frame, #SF_X
	copy_qs	tf, x9, 0, 1, 2, 3, 4, 5, 6	/* x0 to x27 */
	ldr	q0, [x9, #TF_X(28)]
	ldp	x10, x12, [x9, #TF_X(30)]	/* and sp */
	ldp	x13, x14, [x9, #TF_PC]		/* and pstate */
	str	q0, [tf, #TF_X(28)]
	str	x10, [tf, #TF_X(30)]

	ldr	x15, [tf, #TF_PSTATE]
	eor	x15, x15, x14
	tst	x15, #~PSTATE_NZCV & 0xffffffffffffffff
	ccmp	x13, x16, #2, eq
	b.hs	slow_path
	add	x9, frame, #SF_RECORDS
	add	x8, x9, #FPSIMD_FRAME_BYTES
	ldr	x10, [x9]
	ldr	x4, [x8]
	ldp	x6, x7, [x8, #16]
	ldr	x8, [x8, #32]
	adrp	x3, arm64_sigcopy_common
	add	x3, x3, #:lo12:arm64_sigcopy_common
	ldr	x11, [x3, #SM_FPSIMD]
	ldr	x5, [x3, #SM_RECORDS]
	ldp	x15, x16, [x3, #SM_RECORDS + 16]
	eor	x10, x10, x11
	eor	x4, x4, x5		/* only the head of ESR's record */
	eor	x6, x6, x15
	eor	x7, x7, x16
	orr	x10, x10, x4
	orr	x6, x6, x7
	orr	x10, x10, x8
	orr	x10, x10, x6
	cbnz	x10, slow_path
	mrs	x10, cpacr_el1
	tst	x10, #CPACR_ZEN
	b.ne	slow_path

	ldp	w10, w11, [x9, #8]
	msr	fpsr, x10
	msr	fpcr, x11
	each_q	ldp, x9, 16
	stp	x12, x13, [tf, #TF_SP]		/* and pc */
	str	x14, [tf, #TF_PSTATE]
	set_pan	1
	mov	w0, #0
	ret

slow_path:
	set_pan	1
	b	arm64_sigframe_pop

arm64_sigcopy_failed:
	set_pan	1
	mov	w0, #EFAULT
	ret
arm64_sigcopy_end:
