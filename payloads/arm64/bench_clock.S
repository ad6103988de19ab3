/*
 * uint64_t bench_clock(void): CNTVCT_EL0, and nothing of what lies before or
 * behind it.  Arm ARM (DDI 0487), "CNTVCT_EL0".
 */
	.text
	.globl	bench_clock
	.type	bench_clock, %function
bench_clock:
	isb
	mrs	x0, cntvct_el0
	ret
	.size	bench_clock, . - bench_clock
	.section .note.GNU-stack, "", %progbits
