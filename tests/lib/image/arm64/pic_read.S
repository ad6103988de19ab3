/*
 * uint64_t pic_read(unsigned n): event counter n, through the selected-counter
 * view, which PMUSERENR_EL0.ER opens together with PMSELR_EL0.
 * Arm ARM (DDI 0487), "PMXEVCNTR_EL0", "PMUSERENR_EL0".
 */
	.text
	.globl	pic_read
	.type	pic_read, %function
pic_read:
	msr	pmselr_el0, x0
	isb
	mrs	x0, pmxevcntr_el0
	ret
	.size	pic_read, . - pic_read
	.section .note.GNU-stack, "", %progbits
