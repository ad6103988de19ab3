/*
 * The direct read: int cpci_read(page, buf) of cpc/cpci.h.  It saves nothing
 * and leaves rdi and rsi as they are, so that a fault at any instruction can
 * continue at cpci_read_fail.  It reads the last request first.
 *
 * RDPMC is not ordered.  The first LFENCE waits until all earlier
 * instructions have retired.  The second makes RDTSC follow the last RDPMC.
 *
 * At ring 0 RDPMC does not fault when the kernel takes the PICs away.  The
 * kernel changes cg_seq when it does, and this code then starts again.
 * Intel SDM vol. 2B, "RDPMC", "RDTSC"; vol. 2A, "LFENCE".
 */
#include "cpc/read.h"

	/* Access a field of request \offset / 8 - 1 in the page. */
	.macro	req op, field, offset, to
	\op	CG_REQ - CQ_BYTES + \field(%rdi, \offset, 4), \to
	.endm

	.text
	.globl	cpci_read
	.type	cpci_read, @function
cpci_read:
	mov	CG_SEQ(%rdi), %r11
	mov	CB_SET(%rsi), %rax
	mov	CB_N(%rsi), %r10
	mov	CB_BOTH(%rsi), %r8
	sub	CB_SAMPLE(%rsi), %r8
	cmp	CG_SET(%rdi), %rax
	jne	cpci_read_fail
	shl	$3, %r10
	lfence
next:
	req	mov, CQ_INDEX, %r10, %ecx
	rdpmc
	shl	$32, %rdx
	or	%rdx, %rax
	req	sub, CQ_LAST, %r10, %rax
	req	and, CQ_MASK, %r10, %rax
	req	add, CQ_DATA, %r10, %rax
	mov	%rax, CS_VALUE - 8(%r8, %r10)
	sub	$8, %r10
	jnz	next

	lfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	CG_TICK(%rdi), %r10
	mov	CG_LIFT(%rdi), %ecx
	add	%rax, %r10
	mov	%r10, CS_TICK(%r8)
	shl	%cl, %rax
	mulq	CG_MULT(%rdi)
	mov	%rdx, CS_HRTIME(%r8)
	cmp	CG_SEQ(%rdi), %r11
	jne	cpci_read
	/*
	 * A signal handler may run here and sample to the same buffer.  Its
	 * first sample then lies at r8, whole and newer than ours; a second one
	 * is in the twin.  One store, because a handler that leaves by
	 * siglongjmp(3) between two would make sample and twin the same.
	 */
	mov	%r8, CB_SAMPLE(%rsi)
	xor	%eax, %eax
	ret
	.globl	cpci_read_end
cpci_read_end:

	.globl	cpci_read_fail
cpci_read_fail:
	jmp	cpci_read_else
	.size	cpci_read, . - cpci_read

	.section .rodata
	.globl	cpci_can_read
cpci_can_read:
	.byte	1
	.section .note.GNU-stack, "", @progbits
