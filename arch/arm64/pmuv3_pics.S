/*
 * What is done for each PIC of a set: each turn of these loops is part of
 * every context switch, or of a sample.  An event counter's number is in its
 * registers' names, so there are as many accesses as counters, and a loop
 * calls the one its PIC needs.  pmuv3_impl.h says what each function does,
 * tests/host/pmuv3_pics.c says it in C.
 * Arm ARM (DDI 0487), "PMEVCNTR<n>_EL0", "PMEVTYPER<n>_EL0".
 */
#include "arch/arm64/pmuv3_pics.h"

	.text

	/*
	 * x0 is the set, which has a request.  From here on: \left requests to
	 * go, x3 the cfg, x4 the page's request, x5 the accesses, x6 the mask
	 * of all PICs, which are alike.  x7 returns.
	 */
	.macro	begin accesses, left
	ldp	x3, x4, [x0, #PS_CFG]		/* and page */
	ldr	\left, [x0, #PS_N]
	adr	x5, \accesses
	mov	x7, x30
	ldr	x6, [x3, #PC_MASK]
	add	x4, x4, #CG_REQ
	.endm

	/* x9: the request's count, which stands still in the page. */
	.macro	count
	ldrb	w8, [x3], #PC_BYTES
	ldp	x10, x11, [x4], #CQ_BYTES	/* data, last */
	add	x8, x5, x8, lsl #3
	blr	x8
	sub	x9, x9, x11
	and	x9, x9, x6
	add	x9, x9, x10
	.endm

/* struct pcbe_set *pmuv3_load(struct pcbe_set *set) */
	.globl	pmuv3_load
	.type	pmuv3_load, %function
pmuv3_load:
	begin	loads, w12
1:	ldp	x8, x10, [x3], #PC_BYTES	/* pic in the low byte; sel */
	ldr	x9, [x4], #CQ_BYTES		/* data */
	add	x8, x5, w8, uxtb #4
	and	x9, x9, x6
	stur	x9, [x4, #CQ_LAST - CQ_BYTES]
	blr	x8
	subs	w12, w12, #1
	b.ne	1b
	ret	x7
	.size	pmuv3_load, . - pmuv3_load

/* uint64_t pmuv3_fold(const struct pcbe_set *set) */
	.globl	pmuv3_fold
	.type	pmuv3_fold, %function
pmuv3_fold:
	begin	reads, w0
1:	count
	stur	x9, [x4, #CQ_DATA - CQ_BYTES]
	subs	w0, w0, #1
	b.ne	1b
	ret	x7				/* w0 is 0 */
	.size	pmuv3_fold, . - pmuv3_fold

/* bool pmuv3_sample(const struct pcbe_set *set, uint64_t *v, uint64_t pics) */
	.globl	pmuv3_sample
	.type	pmuv3_sample, %function
pmuv3_sample:
	begin	reads, w12
	isb				/* counts of all before, no more */
1:	count
	str	x9, [x1], #8
	subs	w12, w12, #1
	b.ne	1b
	mrs	x0, pmovsclr_el0
	tst	x0, x2
	cset	w0, eq
	ret	x7
	.size	pmuv3_sample, . - pmuv3_sample

	.macro	each macro
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	\macro	\n
	.endr
	.endm

	/* 8 bytes each; tests/cli/pics.sh checks the tables. */
	.macro	read n
	mrs	x9, pmevcntr\n\()_el0
	ret
	.endm
	.balign	8
reads:	each	read

	/* 16 bytes each */
	.macro	load n
	msr	pmevtyper\n\()_el0, x10
	msr	pmevcntr\n\()_el0, x9
	ret
	.balign	16
	.endm
	.balign	16
loads:	each	load
