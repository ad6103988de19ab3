/*
 * The direct read: int cpci_read(page, buf) of cpc/cpci.h.  It saves nothing
 * and leaves x0 and x1 as they are, so that a fault at any instruction can
 * continue at cpci_read_fail.
 * Arm ARM (DDI 0487), "PMEVCNTR<n>_EL0", "PMUSERENR_EL0", "CNTVCT_EL0".
 */
#include "cpc/read.h"

	.text
	.globl	cpci_read
	.type	cpci_read, %function
cpci_read:
	ldp	x4, x7, [x0, #CG_SEQ]		/* and tick */
	ldr	x5, [x0, #CG_SET]
	ldp	x2, x3, [x1, #CB_SET]		/* and n */
	ldp	x16, x17, [x1, #CB_SAMPLE]	/* and both */
	cmp	x5, x2
	b.ne	cpci_read_fail
	adr	x8, pics
	sub	x17, x17, x16
	add	x5, x0, #CG_REQ
	add	x9, x17, #CS_VALUE
	isb				/* all earlier instructions have counted */
next:
	ldp	x11, x12, [x5], #CQ_BYTES		/* data, last */
	ldp	x13, x14, [x5, #CQ_INDEX - CQ_BYTES]	/* and mask */
	add	x13, x8, x13, lsl #3
	br	x13
got:
	sub	x15, x15, x12
	and	x15, x15, x14
	add	x15, x15, x11
	str	x15, [x9], #8
	subs	x3, x3, #1
	b.ne	next

	mrs	x11, cntvct_el0
	mrs	x12, pmccntr_el0
	ldp	x13, x14, [x0, #CG_MULT]
	ldr	x15, [x0, #CG_SEQ]
	lsl	x11, x11, x14
	umulh	x11, x11, x13
	add	x12, x12, x7
	stp	x11, x12, [x17]
	cmp	x15, x4
	b.ne	cpci_read
	/*
	 * A signal handler may run here and sample to the same buffer.  Its
	 * first sample then lies at x17, whole and newer than ours; a second one
	 * is in the twin.  One store, because a handler that leaves by
	 * siglongjmp(3) between two would make sample and twin the same.
	 */
	str	x17, [x1, #CB_SAMPLE]
	mov	w0, #0
	ret

	/* Entry n is 8 bytes and reads PMEVCNTR<n>_EL0. */
	.balign	8
pics:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	mrs	x15, pmevcntr\n\()_el0
	b	got
	.endr
	.globl	cpci_read_end
cpci_read_end:

	.globl	cpci_read_fail
cpci_read_fail:
	b	cpci_read_else
	.size	cpci_read, . - cpci_read

	.section .rodata
	.globl	cpci_can_read
cpci_can_read:
	.byte	1
	.section .note.GNU-stack, "", %progbits
