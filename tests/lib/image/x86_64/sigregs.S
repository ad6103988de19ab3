/*
 * For tests/image/signal/signal_frame.c: load all general registers, execute
 * an undefined instruction, store them.  The order is that of gregs[]: r8 to
 * r15, rdi, rsi, rbp, rbx, rdx, rax, rcx.  System V ABI, AMD64 supplement,
 * "Register Usage".
 */
	.text

	.macro	each op
	\op	0, %r8
	\op	8, %r9
	\op	16, %r10
	\op	24, %r11
	\op	32, %r12
	\op	40, %r13
	\op	48, %r14
	\op	56, %r15
	\op	72, %rsi
	\op	80, %rbp
	\op	88, %rbx
	\op	96, %rdx
	\op	104, %rax
	\op	112, %rcx
	.endm
	.macro	load at, reg
	mov	\at(%rdi), \reg
	.endm
	.macro	store at, reg
	mov	\reg, \at(%rdi)
	.endm

	.globl	sigregs, sigregs_undefined, sigregs_resume
	.type	sigregs, @function
sigregs:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rsi
	each	load
	mov	64(%rdi), %rdi
sigregs_undefined:
	ud2
sigregs_resume:
	push	%rdi
	mov	8(%rsp), %rdi
	each	store
	pop	%rsi
	mov	%rsi, 64(%rdi)
	pop	%rsi
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.size	sigregs, . - sigregs

	.section .note.GNU-stack, "", @progbits
