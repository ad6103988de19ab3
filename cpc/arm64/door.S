/*
 * cpc_syscall() of <sys/cpc.h>: the system call that libcpc makes.  Arguments
 * and result are in the registers that the kernel uses.  Host tests link
 * their own cpc_syscall().
 */
	.text
	.globl	cpc_syscall
	.type	cpc_syscall, %function
cpc_syscall:
	mov	w0, w0			/* the upper half of an enum is undefined */
	mov	x8, #0x4000		/* BARECPC_SYS_CPC */
	svc	#0
	ret
	.size	cpc_syscall, . - cpc_syscall

	.section .note.GNU-stack, "", %progbits
