/*
 * nb_enter(code): calls generated code, which may change every register, and
 * restores what a C function must preserve.  The code ends by a jump to
 * nb_leave.
 */
	.text
	.globl	nb_enter, nb_leave
	.type	nb_enter, %function
nb_enter:
	stp	x29, x30, [sp, -160]!
	stp	x19, x20, [sp, 16]
	stp	x21, x22, [sp, 32]
	stp	x23, x24, [sp, 48]
	stp	x25, x26, [sp, 64]
	stp	x27, x28, [sp, 80]
	stp	d8, d9, [sp, 96]
	stp	d10, d11, [sp, 112]
	stp	d12, d13, [sp, 128]
	stp	d14, d15, [sp, 144]
	adrp	x1, saved_sp
	mov	x2, sp
	str	x2, [x1, :lo12:saved_sp]
	br	x0
nb_leave:
	adrp	x1, saved_sp
	ldr	x2, [x1, :lo12:saved_sp]
	mov	sp, x2
	msr	fpcr, xzr
	ldp	x19, x20, [sp, 16]
	ldp	x21, x22, [sp, 32]
	ldp	x23, x24, [sp, 48]
	ldp	x25, x26, [sp, 64]
	ldp	x27, x28, [sp, 80]
	ldp	d8, d9, [sp, 96]
	ldp	d10, d11, [sp, 112]
	ldp	d12, d13, [sp, 128]
	ldp	d14, d15, [sp, 144]
	ldp	x29, x30, [sp], 160
	ret
	.size	nb_enter, . - nb_enter

	.bss
	.balign	8
saved_sp:
	.quad	0
	.section .note.GNU-stack, "", %progbits
