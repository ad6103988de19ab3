/*
 * For tests/image/signal/signal_frame.c: load x0 to x30, execute an undefined
 * instruction, store them.  Procedure Call Standard for the Arm 64-bit
 * Architecture (IHI 0055), "General-purpose Registers".
 */
	.text

	/* All registers but x0, which holds the array's address. */
	.macro	each op1, op2
	\op1	x1, [x0, #8]
	.irp	n, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28
	pair	\op2, \n
	.endr
	\op1	x30, [x0, #240]
	.endm
	.macro	pair op, n
	.ifeq	\n - 28
	\op	x28, x29, [x0, #224]
	.else
	.altmacro
	pair_of	\op, \n, %(\n + 1)
	.noaltmacro
	.endif
	.endm
	.macro	pair_of op, n, m
	\op	x\n, x\m, [x0, #8 * \n]
	.endm

	.globl	sigregs, sigregs_undefined, sigregs_resume
	.type	sigregs, %function
sigregs:
	stp	x29, x30, [sp, #-112]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	str	x1, [sp, #96]
	each	ldr, ldp
	ldr	x0, [x0]
sigregs_undefined:
	udf	#0
sigregs_resume:
	str	x0, [sp, #-16]!
	ldr	x0, [sp, #112]
	each	str, stp
	ldr	x1, [sp], #16
	str	x1, [x0]
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #112
	ret
	.size	sigregs, . - sigregs

	.section .note.GNU-stack, "", %progbits
