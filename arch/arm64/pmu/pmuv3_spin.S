/* The loop of known length for the proofs of the PMU. */
	.text

/*
 * bool pmuv3_spin(uint64_t pics, uint64_t n)
 * Only the isb and the loop retire between the start and the read of ISR_EL1.
 * It is assembly so that no compiler adds an instruction.
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
