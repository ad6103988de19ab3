/* Execute the code with struct state's registers.  X29 leads there and back. */
	.macro	general what
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30
	\what	x\n, [x29, 8 * \n]
	.endr
	.endm
	.macro	vectors what
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, \
		18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\what	q\n, [x0], 16
	.endr
	.endm
	.macro	address r, of
	adrp	\r, \of
	add	\r, \r, :lo12:\of
	.endm

	.text
	.globl	execute_code, code_end
execute_code:
	stp	x19, x20, [sp, -176]!
	stp	x21, x22, [sp, 16]
	stp	x23, x24, [sp, 32]
	stp	x25, x26, [sp, 48]
	stp	x27, x28, [sp, 64]
	stp	x29, x30, [sp, 80]
	stp	d8, d9, [sp, 96]
	stp	d10, d11, [sp, 112]
	stp	d12, d13, [sp, 128]
	stp	d14, d15, [sp, 144]
	str	x18, [sp, 160]
	address	x0, saved_sp
	mov	x1, sp
	str	x1, [x0]
	address	x0, code_page
	ldr	x0, [x0]
	str	x0, [sp, 168]
	address	x29, state_in
	ldr	x0, [x29, 248]
	msr	nzcv, x0
	add	x0, x29, 320
	vectors	ldr
	general	ldr
	ldr	x29, [sp, 168]
	br	x29
code_end:
	address	x29, state_out
	general	str
	mrs	x0, nzcv
	str	x0, [x29, 248]
	add	x0, x29, 320
	vectors	str
	address	x0, saved_sp
	ldr	x0, [x0]
	mov	sp, x0
	ldr	x18, [sp, 160]
	ldp	d14, d15, [sp, 144]
	ldp	d12, d13, [sp, 128]
	ldp	d10, d11, [sp, 112]
	ldp	d8, d9, [sp, 96]
	ldp	x29, x30, [sp, 80]
	ldp	x27, x28, [sp, 64]
	ldp	x25, x26, [sp, 48]
	ldp	x23, x24, [sp, 32]
	ldp	x21, x22, [sp, 16]
	ldp	x19, x20, [sp], 176
	ret
	.section .note.GNU-stack, "", %progbits
