/*
 * uint64_t arch_raw(unsigned index): PMEVCNTR<index>_EL0, after all earlier
 * instructions.  The table has two instructions for each counter.
 * Arm ARM (DDI 0487), "PMEVCNTR<n>_EL0".
 */
	.text
	.globl	arch_raw
	.type	arch_raw, %function
arch_raw:
	isb
	adr	x1, 1f
	add	x1, x1, w0, uxtw #3
	br	x1
1:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	mrs	x0, pmevcntr\n\()_el0
	ret
	.endr
	.size	arch_raw, . - arch_raw
	.section .note.GNU-stack, "", %progbits
