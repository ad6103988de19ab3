/*
 * void script_run(const struct op *script): see
 * tests/image/random_script/script.h.  It uses no stack while it runs, so that
 * a new LWP needs none.
 */
	.text
	.globl	script_run
	.type	script_run, @function
script_run:
	push	%rbx
	mov	%rdi, %rbx
next:
	mov	(%rbx), %rax		/* op_sysno */
	test	%rax, %rax
	js	end
	mov	8(%rbx), %rdi		/* op_arg */
	mov	16(%rbx), %rsi
	mov	24(%rbx), %rdx
	mov	32(%rbx), %r10
	mov	40(%rbx), %r8
	mov	48(%rbx), %r9
	syscall				/* instruction 10 of script_before */

	mov	56(%rbx), %rcx		/* op_result */
	mov	%rax, (%rcx)
	mov	64(%rbx), %rcx		/* op_spins */
	mov	72(%rbx), %rdx		/* op_zero */
	add	$80, %rbx
	test	%rax, %rax
	cmovz	%rdx, %rbx
1:	dec	%rcx
	jnz	1b
	jmp	next			/* instruction 8 of script_after, without the loop */
end:
	pop	%rbx
	ret
	.size	script_run, . - script_run

/*
 * The signal handlers of scripts.  The kernel pushed the handler's return
 * address. rt_sigreturn(2) expects the stack without it.
 */
	.globl	script_restarting, script_returning
	.type	script_restarting, @function
script_restarting:
	mov	script_calls(%rip), %rax
	mov	script_calls+8(%rip), %rdi
	xor	%esi, %esi
	syscall				/* instruction 4 of script_restart */
	.size	script_restarting, . - script_restarting

	.type	script_returning, @function
script_returning:
	add	$8, %rsp
	mov	script_calls+16(%rip), %rax
	syscall				/* instruction 3 of script_return */
	.size	script_returning, . - script_returning

	.section .rodata
	.balign	8
	.globl	script_before, script_after, script_restart, script_return
script_before:
	.quad	10
script_after:
	.quad	8
script_restart:
	.quad	4
script_return:
	.quad	3
	.section .note.GNU-stack, "", @progbits
