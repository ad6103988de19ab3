/*
 * The door itself: cpc_syscall() of include/sys/cpc.h, whose arguments but
 * one are where the kernel wants them, and whose result is the kernel's.  Not
 * in the host tests, which have their own.
 */
	.text
	.globl	cpc_syscall
	.type	cpc_syscall, @function
cpc_syscall:
	movl	%edi, %edi		/* an enum comes without its upper half */
	movl	$0x4000, %eax		/* BARECPC_SYS_CPC */
	movq	%rcx, %r10
	syscall
	ret
	.size	cpc_syscall, . - cpc_syscall

	.section .note.GNU-stack, "", @progbits
