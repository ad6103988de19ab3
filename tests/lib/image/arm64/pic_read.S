/*
 * uint64_t pic_read(unsigned n): read event counter n through PMSELR_EL0 and
 * PMXEVCNTR_EL0.  PMUSERENR_EL0.ER makes both accessible at EL0.  Arm ARM (DDI
 * 0487), "PMXEVCNTR_EL0", "PMUSERENR_EL0".
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
