/*
 * The switch from one kernel stack to another.  The pushed registers are struct
 * switch_frame of lwp.c.
 */
	.text

/* void x86_switch(void **from_sp, void *to_sp) */
	.globl	x86_switch
x86_switch:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret

/* The start of an LWP: call the function in %r12 with the argument in %rbx. */
	.globl	x86_lwp_first
x86_lwp_first:
	mov	%rbx, %rdi
	call	*%r12
	ud2
