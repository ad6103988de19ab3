/*
 * void trapped_loop(uint64_t iterations): four instructions an iteration, one
 * of them CPUID, and a constant number around them.  iterations > 0.
 * VMX always leaves the guest for CPUID, and every hypervisor on SVM intercepts
 * it.  Intel SDM vol. 3C, "Instructions That Cause VM Exits Unconditionally".
 */
	.text
	.globl	trapped_loop
	.type	trapped_loop, @function
trapped_loop:
	push	%rbx
1:	xor	%eax, %eax
	cpuid
	dec	%rdi
	jnz	1b
	pop	%rbx
	ret
	.size	trapped_loop, . - trapped_loop
	.section .note.GNU-stack, "", @progbits
