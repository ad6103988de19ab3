/*
 * The door itself: cpc_syscall() of include/sys/cpc.h, whose arguments are
 * where the kernel wants them, and whose result is the kernel's.  Not in the
 * host tests, which have their own.
 */
	.text
	.globl	cpc_syscall
	.type	cpc_syscall, %function
cpc_syscall:
	mov	w0, w0			/* an enum comes without its upper half */
	mov	x8, #0x4000		/* BARECPC_SYS_CPC */
	svc	#0
	ret
	.size	cpc_syscall, . - cpc_syscall

	.section .note.GNU-stack, "", %progbits
