/*
 * Starts, folds and samples the PICs of a set.  These loops are hot: they run
 * at every context switch and every sample.
 *
 * An event counter's number is part of its registers' names.  So each loop has
 * a table with one piece of code for each counter.  An iteration branches to
 * the piece of its PIC, which ends the iteration.  pmuv3_impl.h describes the
 * functions, and tests/lib/host/arm64/pmuv3_pics.c has them in C.
 * Arm ARM (DDI 0487), "PMEVCNTR<n>_EL0", "PMEVTYPER<n>_EL0".
 */
#include "arch/arm64/pmu/pmuv3_pics.h"

	.text

	/*
	 * Set up a loop over the requests of the set x0:
	 *
	 *     \left   requests that are left, at least one
	 *     x3      struct pcbe_cfg of the next request
	 *     x4      struct cpc_page_req of the next request
	 *     x5      the table of pieces
	 *     x6      pc_mask, which is the same for all PICs
	 *     x7      the counter page
	 */
	.macro	begin pieces, left
	ldp	x3, x7, [x0, #PS_CFG]		/* and page */
	ldr	\left, [x0, #PS_N]
	adr	x5, \pieces
	ldr	x6, [x3, #PC_MASK]
	add	x4, x7, #CG_REQ
	.endm

	.macro	each piece
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	\piece	\n
	.endr
	.endm

/* void pmuv3_start(struct pcbe_set *set, uint64_t pics) */
	.globl	pmuv3_start
	.type	pmuv3_start, %function
pmuv3_start:
	begin	loads, w2
1:	ldp	x8, x10, [x3], #PC_BYTES	/* pic in the low byte; sel */
	ldr	x9, [x4], #CQ_BYTES		/* data */
	add	x8, x5, w8, uxtb #4
	and	x9, x9, x6
	stur	x9, [x4, #CQ_LAST - CQ_BYTES]
	subs	w2, w2, #1
	br	x8
2:	isb				/* all PICs are loaded before one starts */
	ldp	x8, x9, [x7, #CG_SEQ]		/* and tick */
	mrs	x10, pmccntr_el0
	add	x8, x8, #1
	sub	x9, x9, x10
	stp	x8, x9, [x7, #CG_SEQ]
	msr	pmcntenset_el0, x1
	isb				/* the next instruction is counted */
	ret
	.size	pmuv3_start, . - pmuv3_start

	/* 16 bytes each; tests/cli/count/pic_tables.sh checks these tables. */
	.macro	load n
	msr	pmevtyper\n\()_el0, x10
	msr	pmevcntr\n\()_el0, x9
	b.ne	1b
	b	2b
	.endm
	.balign	16
loads:	each	load

	/* Branch to the PIC's piece with x10 = cq_data, x11 = cq_last. */
	.macro	read left
	ldrb	w8, [x3], #PC_BYTES
	ldp	x10, x11, [x4], #CQ_BYTES
	add	x8, x5, x8, lsl #5
	subs	\left, \left, #1
	br	x8
	.endm

	/* Set x9 to the request's count. */
	.macro	count n
	.balign	32
	mrs	x9, pmevcntr\n\()_el0
	sub	x9, x9, x11
	and	x9, x9, x6
	add	x9, x9, x10
	.endm

/* uint64_t pmuv3_fold(const struct pcbe_set *set) */
	.globl	pmuv3_fold
	.type	pmuv3_fold, %function
pmuv3_fold:
	begin	folds, w0
1:	read	w0
	.size	pmuv3_fold, . - pmuv3_fold

	/* 32 bytes each */
	.macro	fold n
	count	\n
	stur	x9, [x4, #CQ_DATA - CQ_BYTES]
	b.ne	1b
	ret				/* w0 is 0 */
	.endm
	.balign	32
folds:	each	fold

/*
 * uint64_t pmuv3_fold_overflowed(const struct pcbe_set *set, uint64_t pics)
 *
 * A PIC that overflowed restarted at 0 when the count reached the next
 * multiple of 2^width.  So its count is that multiple plus its value.
 */
	.globl	pmuv3_fold_overflowed
	.type	pmuv3_fold_overflowed, %function
pmuv3_fold_overflowed:
	msr	pmovsclr_el0, x1
	isb				/* before the interrupt's end */
	begin	folds, w2
	mov	x12, x30
1:	ldrb	w8, [x3], #PC_BYTES
	ldp	x10, x11, [x4], #CQ_BYTES	/* data, last */
	lsr	x9, x1, x8
	tbz	x9, #0, 2f
	orr	x10, x10, x6		/* the next multiple, less 1 */
	add	x10, x10, #1
	mov	x11, #0
2:	add	x8, x5, x8, lsl #5
	cmp	x8, x8			/* equal: the piece ends with its ret */
	blr	x8
	subs	w2, w2, #1
	b.ne	1b
	ldr	w0, [x0, #PS_PICS]
	and	x0, x0, x1
	ret	x12
	.size	pmuv3_fold_overflowed, . - pmuv3_fold_overflowed

/* bool pmuv3_sample(const struct pcbe_set *set, struct cpc_sample *s) */
	.globl	pmuv3_sample
	.type	pmuv3_sample, %function
pmuv3_sample:
	begin	samples, w2
	isb				/* earlier instructions are counted */
	mrs	x8, pmccntr_el0
	ldr	x9, [x7, #CG_TICK]
	add	x9, x9, x8
	str	x9, [x1, #CS_TICK]!	/* the values follow */
1:	read	w2
2:	ldr	w2, [x0, #PS_PICS]
	mrs	x0, pmovsclr_el0
	tst	x0, x2
	cset	w0, eq
	ret
	.size	pmuv3_sample, . - pmuv3_sample

	/* 32 bytes each */
	.macro	sample n
	count	\n
	str	x9, [x1, #8]!
	b.ne	1b
	b	2b
	.endm
	.balign	32
samples: each	sample
