/*
 * The loop of known length of the PMU's proofs.
 */
	.text

/*
 * bool pmuv3_spin(uint64_t pics, uint64_t n)
 * Nothing but the isb and the loop retires between the start and the look at
 * ISR_EL1, and no branch or call hides in a compiler's choice.
 * Arm ARM (DDI 0487), "ISR_EL1" (I: an interrupt is pending).
 */
	.globl	pmuv3_spin
pmuv3_spin:
	msr	pmcntenset_el0, x0
	isb
1:	subs	x1, x1, #1
	b.ne	1b
	mrs	x2, isr_el1
	msr	pmcntenclr_el0, x0
	isb
	ubfx	x0, x2, #7, #1
	ret
