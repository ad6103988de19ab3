/*
 * Saves and loads the FP registers.  A save area for NEON has FPSR and FPCR in
 * 16 bytes, then Q0..Q31.  One for SVE has FPSR and FPCR, then Z0..Z31, P0..P15
 * and FFR without gaps, each at its length.
 */
#include "arch/arm64/trap/pairs.inc"

	.arch	armv8.2-a+sve
	.text

	.macro	control_save
	mrs	x2, fpsr
	mrs	x3, fpcr
	stp	x2, x3, [x0], #16
	.endm

	.macro	control_load
	ldp	x1, x2, [x0], #16
	msr	fpsr, x1
	msr	fpcr, x2
	.endm

	/* Do \op for z0..z31 from x0 on, or for p0..p15 from x1 on. */
	.macro	each_vector op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
	    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	z\n, [x0, #\n, mul vl]
	.endr
	.endm

	.macro	each_predicate op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	p\n, [x1, #\n, mul vl]
	.endr
	.endm

	.globl	arm64_neon_save
arm64_neon_save:
	control_save
	each_q	stp, x0, 0
	ret

	.globl	arm64_neon_load
arm64_neon_load:
	control_load
	each_q	ldp, x0, 0
	ret

	.globl	arm64_neon_switch
arm64_neon_switch:
	control_save
	each_q	stp, x0, 0
	mov	x0, x1
	control_load
	each_q	ldp, x0, 0
	ret

	.globl	arm64_neon_clear
arm64_neon_clear:
	msr	fpsr, xzr
	msr	fpcr, xzr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
	    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	movi	v\n\().2d, #0
	.endr
	ret

	.globl	arm64_sve_vector
arm64_sve_vector:
	rdvl	x0, #1
	ret

	.globl	arm64_sve_save
arm64_sve_save:
	control_save
	each_vector str
	addvl	x1, x0, #16
	addvl	x1, x1, #16
	each_predicate str
	rdffr	p0.b
	str	p0, [x1, #16, mul vl]
	ldr	p0, [x1]
	ret

	.globl	arm64_sve_load
arm64_sve_load:
	control_load
	addvl	x1, x0, #16
	addvl	x1, x1, #16
	ldr	p0, [x1, #16, mul vl]
	wrffr	p0.b
	each_vector ldr
	each_predicate ldr
	ret

/* A write of a V register clears the rest of its Z register. */
	.globl	arm64_sve_begin
arm64_sve_begin:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
	    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	mov	v\n\().16b, v\n\().16b
	.endr
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	pfalse	p\n\().b
	.endr
	wrffr	p0.b
	ret

/* Load FPSR, FPCR and Q0..Q31 from Linux's struct fpsimd_context at x0. */
	.globl	arm64_neon_load_frame
arm64_neon_load_frame:
	ldp	w1, w2, [x0, #8]
	msr	fpsr, x1
	msr	fpcr, x2
	add	x0, x0, #16
	each_q	ldp, x0, 0
	ret

/*
 * Load the SVE registers from Linux's struct sve_context at x0.  The low 16
 * bytes of each Z register, FPSR and FPCR come from the struct fpsimd_context
 * at x1.
 */
	.globl	arm64_sve_load_frame
arm64_sve_load_frame:
	ldp	w2, w3, [x1, #8]
	msr	fpsr, x2
	msr	fpcr, x3
	add	x0, x0, #16
	each_vector ldr
	ptrue	p0.d, vl1
	ptrue	p1.d, vl2
	bic	p1.b, p1/z, p1.b, p0.b
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, \
	    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ldp	x2, x3, [x1, #16]!
	cpy	z\n\().d, p0/m, x2
	cpy	z\n\().d, p1/m, x3
	.endr
	addvl	x1, x0, #16
	addvl	x1, x1, #16
	ldr	p0, [x1, #16, mul vl]
	wrffr	p0.b
	each_predicate ldr
	ret
