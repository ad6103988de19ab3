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

/* void bench_fault(void): SIGILL, whose handler goes on at the end. */
	.globl	bench_fault, bench_fault_end
	.type	bench_fault, %function
bench_fault:
	udf	#0
bench_fault_end:
	ret
	.size	bench_fault, . - bench_fault

/* void bench_sled(void): instructions of 4 bytes each, that do nothing. */
	.globl	bench_sled, bench_sled_end
	.type	bench_sled, %function
bench_sled:
	.rept	4500
	nop
	.endr
bench_sled_end:
	ret
	.size	bench_sled, . - bench_sled

	.section .note.GNU-stack, "", %progbits
