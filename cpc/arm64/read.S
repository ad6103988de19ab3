/*
 * bool cpci_read(page, sample, set, n): cpc/cpci.h.  Leaf: nothing is saved,
 * so a fault anywhere in it can leave by cpci_read_fail.
 * Arm ARM (DDI 0487), "PMEVCNTR<n>_EL0", "PMUSERENR_EL0", "CNTVCT_EL0".
 */

/* struct cpc_page and struct cpc_sample, <sys/cpc.h> */
#define CG_SEQ	0
#define CG_SET	8
#define CG_NREQS 16
#define CG_TICK	24
#define CG_MULT	32
#define CG_REQ	64
#define CS_VALUE 16

	.text
	.globl	cpci_read
	.type	cpci_read, %function
cpci_read:
	adr	x8, pics
retry:
	ldp	x4, x5, [x0, #CG_SEQ]
	ldp	x6, x7, [x0, #CG_NREQS]
	cmp	x5, x2
	ccmp	x6, x3, #0, eq
	b.ne	cpci_read_fail
	add	x5, x0, #CG_REQ
	add	x9, x1, #CS_VALUE
	mov	x10, x3
	isb				/* counts of all before, no more */
	ldp	x11, x12, [x5]		/* data, last */
next:
	ldp	x13, x14, [x5, #16]	/* index, shift */
	add	x13, x8, x13, lsl #3
	br	x13
got:
	sub	x15, x15, x12
	lsl	x15, x15, x14
	lsr	x15, x15, x14
	add	x15, x15, x11
	str	x15, [x9], #8
	ldp	x11, x12, [x5, #32]!
	subs	x10, x10, #1
	b.ne	next

	mrs	x11, cntvct_el0
	mrs	x12, pmccntr_el0
	ldp	x13, x14, [x0, #CG_MULT]
	ldr	x15, [x0, #CG_SEQ]
	lsl	x11, x11, x14
	umulh	x11, x11, x13
	add	x12, x12, x7
	stp	x11, x12, [x1]
	cmp	x15, x4
	b.ne	retry
	mov	w0, #1
	ret

	/* 8 bytes each: the branch above goes to the index'th. */
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
	mov	w0, #0
	ret
	.size	cpci_read, . - cpci_read

	.section .rodata
	.globl	cpci_can_read
cpci_can_read:
	.byte	1
	.section .note.GNU-stack, "", %progbits
