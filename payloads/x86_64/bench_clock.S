/*
 * uint64_t bench_clock(void): the TSC, when all before has retired.
 * Intel SDM vol. 2B, "RDTSC".
 */
	.text
	.globl	bench_clock
	.type	bench_clock, @function
bench_clock:
	lfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	ret
	.size	bench_clock, . - bench_clock

/* void bench_fault(void): SIGILL, whose handler goes on at the end. */
	.globl	bench_fault, bench_fault_end
	.type	bench_fault, @function
bench_fault:
	ud2
bench_fault_end:
	ret
	.size	bench_fault, . - bench_fault

/* void bench_sled(void): instructions of 1 byte each, that do nothing. */
	.globl	bench_sled, bench_sled_end
	.type	bench_sled, @function
bench_sled:
	.rept	4500
	nop
	.endr
bench_sled_end:
	ret
	.size	bench_sled, . - bench_sled

	.section .note.GNU-stack, "", @progbits
