/*
 * clone_thread() of tests/lib/image/test.h.
 *
 * clone(2): on x86-64 the arguments are flags, stack, parent's word, child's
 * word, TLS.  The child has its parent's registers but for %rax and %rsp.
 */
	.text
	.globl	clone_thread
	.type	clone_thread, @function
clone_thread:
	mov	%rdi, %r9
	mov	%rdx, %rdi
	mov	%rcx, %r10
	xor	%edx, %edx
	xor	%r8d, %r8d
	mov	$56, %eax		/* SYS_clone */
	syscall
	test	%rax, %rax
	jnz	1f
	call	*%r9
	mov	%eax, %edi
	mov	$60, %eax		/* SYS_exit */
	syscall
	ud2
1:	ret
	.size	clone_thread, . - clone_thread
	.section .note.GNU-stack, "", @progbits
