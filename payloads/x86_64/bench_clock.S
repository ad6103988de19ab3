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
	.section .note.GNU-stack, "", @progbits
