/*
 * For tests/image/process/fpstate.c: fill the SIMD registers, make a system
 * call, store the registers.
 *
 * Arm ARM (DDI 0487), "The AArch64 System Level Programmers' Model"; SVE:
 * "Scalable Vector Extension".  The callee saves the low halves of v8 to v15:
 * Procedure Call Standard for the Arm 64-bit Architecture (IHI 0055), "SIMD
 * and Floating-Point registers".
 */
	.arch	armv8-a+sve

#define AT_HWCAP 16

	.text

	.macro	save_callee
	stp	x29, x30, [sp, #-96]!
	mov	x29, sp
	str	x19, [sp, #16]
	stp	d8, d9, [sp, #32]
	stp	d10, d11, [sp, #48]
	stp	d12, d13, [sp, #64]
	stp	d14, d15, [sp, #80]
	.endm

	.macro	restore_callee
	ldr	x19, [sp, #16]
	ldp	d8, d9, [sp, #32]
	ldp	d10, d11, [sp, #48]
	ldp	d12, d13, [sp, #64]
	ldp	d14, d15, [sp, #80]
	ldp	x29, x30, [sp], #96
	.endm

	/* Make the call in arguments 2, 3 and 4.  Argument 1: to x19. */
	.macro	call_kernel
	mov	x19, x1
	mov	x8, x2
	mov	x0, x3
	mov	x1, x4
	svc	#0
	.endm

	/* Apply op to the number of each register of a kind. */
	.macro	each_vector op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	\n
	.endr
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	\n
	.endr
	.endm
	.macro	each_predicate op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	\n
	.endr
	.endm

	.macro	load_q n
	ldr	q\n, [x0, #16 * \n]
	.endm
	.macro	store_q n
	str	q\n, [x19, #16 * \n]
	.endm
	.macro	load_z n
	ldr	z\n, [x0, #\n, mul vl]
	.endm
	.macro	store_z n
	str	z\n, [x19, #\n, mul vl]
	.endm
	/* Predicates follow the 32 vectors; each is an eighth of a vector. */
	.macro	load_p n
	ldr	p\n, [x0, #(\n + 1), mul vl]
	.endm
	.macro	store_p n
	str	p\n, [x19, #(\n + 1), mul vl]
	.endm

	.globl	fpstate_base
	.type	fpstate_base, %function
fpstate_base:
	save_callee
	each_vector load_q
	call_kernel
	each_vector store_q
	restore_callee
	ret
	.size	fpstate_base, . - fpstate_base

	/* The layout: Z0..Z31, FFR, P0..P15. */
	.globl	fpstate_wide
	.type	fpstate_wide, %function
fpstate_wide:
	save_callee
	each_vector load_z
	addvl	x0, x0, #16
	addvl	x0, x0, #16
	ldr	p0, [x0]
	wrffr	p0.b
	each_predicate load_p
	call_kernel
	each_vector store_z
	addvl	x19, x19, #16
	addvl	x19, x19, #16
	each_predicate store_p
	rdffr	p0.b
	str	p0, [x19]
	restore_callee
	ret
	.size	fpstate_wide, . - fpstate_wide

	.globl	fpstate_wide_look
	.type	fpstate_wide_look, %function
fpstate_wide_look:
	str	x19, [sp, #-16]!
	mov	x19, x0
	each_vector store_z
	addvl	x19, x19, #16
	addvl	x19, x19, #16
	each_predicate store_p
	ldr	x19, [sp], #16
	ret
	.size	fpstate_wide_look, . - fpstate_wide_look

	.globl	fpstate_wide_bytes
	.type	fpstate_wide_bytes, %function
fpstate_wide_bytes:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	mov	x0, #AT_HWCAP
	bl	getauxval
	mov	x1, x0
	mov	x0, #0
	tbz	x1, #22, 1f		/* HWCAP_SVE */
	rdvl	x0, #1
	lsr	x1, x0, #3
	lsl	x0, x0, #5		/* 32 vectors, 16 predicates and FFR */
	add	x0, x0, x1, lsl #4
	add	x0, x0, x1
1:	ldp	x29, x30, [sp], #16
	ret
	.size	fpstate_wide_bytes, . - fpstate_wide_bytes

	.section .rodata
	.balign	8
	.globl	fpstate_base_bytes
fpstate_base_bytes:
	.quad	32 * 16
	.section .note.GNU-stack, "", %progbits
