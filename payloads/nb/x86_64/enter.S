/*
 * nb_enter(code): calls generated code, which may change every register, and
 * restores what a C function must preserve.  The code ends by a jump to
 * nb_leave.
 */
	.text
	.globl	nb_enter, nb_leave
	.type	nb_enter, @function
nb_enter:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, saved_sp(%rip)
	jmp	*%rdi
nb_leave:
	mov	saved_sp(%rip), %rsp
	cld
	fninit
	ldmxcsr	usual_mxcsr(%rip)
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.size	nb_enter, . - nb_enter

	.section .rodata
	.balign	4
usual_mxcsr:
	.long	0x1f80

	.bss
	.balign	8
saved_sp:
	.quad	0
	.section .note.GNU-stack, "", @progbits
