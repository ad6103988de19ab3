/*
 * bool cpci_read(page, sample, set, n): cpc/cpci.h.  Nothing is saved, so a
 * fault anywhere in it can leave by cpci_read_fail.  The last request is read
 * first: its index counts down.
 *
 * RDPMC waits for nothing: the first LFENCE is for all before it to have
 * retired, the second for the counts to have been read when the clock is.
 * At ring 0 RDPMC does not fault.  There cg_seq alone tells that the PICs
 * were taken away: whatever did that did it between two instructions of
 * this, and what they read before is only believed if cg_seq is as it was.
 * Intel SDM vol. 2B, "RDPMC", "RDTSC"; vol. 2A, "LFENCE".
 */

/* struct cpc_page, cpc_page_req and cpc_sample, <sys/cpc.h> */
#define CG_SEQ	0
#define CG_SET	8
#define CG_NREQS 16
#define CG_TICK	24
#define CG_MULT	32
#define CG_LIFT	40
#define CG_REQ	64
#define CQ_DATA	0
#define CQ_LAST	8
#define CQ_INDEX 16
#define CQ_SHIFT 24
#define CS_HRTIME 0
#define CS_TICK	8
#define CS_VALUE 16

	/* Of the request before the one at \offset / 8. */
	.macro	req op, field, offset, to
	\op	CG_REQ - 32 + \field(%rdi, \offset, 4), \to
	.endm

	.text
	.globl	cpci_read
	.type	cpci_read, @function
cpci_read:
	mov	%rdx, %r8
	mov	%rcx, %r9
retry:
	mov	CG_SEQ(%rdi), %r11
	cmp	CG_SET(%rdi), %r8
	jne	cpci_read_fail
	cmp	CG_NREQS(%rdi), %r9
	jne	cpci_read_fail
	lea	(, %r9, 8), %r10
	lfence
next:
	req	mov, CQ_INDEX, %r10, %ecx
	rdpmc
	shl	$32, %rdx
	or	%rdx, %rax
	req	sub, CQ_LAST, %r10, %rax
	req	mov, CQ_SHIFT, %r10, %ecx
	shl	%cl, %rax
	shr	%cl, %rax
	req	add, CQ_DATA, %r10, %rax
	mov	%rax, CS_VALUE - 8(%rsi, %r10)
	sub	$8, %r10
	jnz	next

	lfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	CG_TICK(%rdi), %r10
	mov	CG_LIFT(%rdi), %ecx
	add	%rax, %r10
	mov	%r10, CS_TICK(%rsi)
	shl	%cl, %rax
	mulq	CG_MULT(%rdi)
	mov	%rdx, CS_HRTIME(%rsi)
	cmp	CG_SEQ(%rdi), %r11
	jne	retry
	mov	$1, %eax
	ret
	.globl	cpci_read_end
cpci_read_end:

	.globl	cpci_read_fail
cpci_read_fail:
	xor	%eax, %eax
	ret
	.size	cpci_read, . - cpci_read

	.section .rodata
	.globl	cpci_can_read
cpci_can_read:
	.byte	1
	.section .note.GNU-stack, "", @progbits
