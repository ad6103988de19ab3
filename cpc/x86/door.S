/*
 * cpc_syscall() of <sys/cpc.h>: the system call that libcpc makes.  All
 * arguments but the fourth, and the result, are in the registers that the
 * kernel uses.  Host tests link their own cpc_syscall().
 */
	.text
	.globl	cpc_syscall
	.type	cpc_syscall, @function
cpc_syscall:
	movl	%edi, %edi		/* the upper half of an enum is undefined */
	movl	$0x4000, %eax		/* BARECPC_SYS_CPC */
	movq	%rcx, %r10
	syscall
	ret
	.size	cpc_syscall, . - cpc_syscall

	.section .note.GNU-stack, "", @progbits
