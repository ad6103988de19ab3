/*
 * The clock of opcost on x86-64, and code that its tests interrupt.
 *
 * uint64_t bench_clock(void): the TSC, after all earlier instructions.
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

	/* The clock, in as many instructions wherever it is read. */
	.macro	read_clock reg
	lfence
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	mov	%rdx, \reg
	.endm

/* uint64_t bench_sled(void): reads the clock, then does nothing. */
	.globl	bench_sled, bench_sled_first, bench_sled_end
	.type	bench_sled, @function
bench_sled:
	read_clock %rax
bench_sled_first:
	.rept	4500
	nop
	.endr
bench_sled_end:
	ret
	.size	bench_sled, . - bench_sled

/*
 * void bench_note(int, siginfo_t *, void *): a handler that reads the clock,
 * and notes it with the instruction that was interrupted.
 */
	.globl	bench_note
	.type	bench_note, @function
bench_note:
	read_clock %rcx
	mov	%rcx, bench_noted(%rip)
	mov	16(%rsi), %rax			/* si_addr */
	mov	%rax, bench_noted + 8(%rip)
	ret
	.size	bench_note, . - bench_note

/* uint64_t bench_empty(void): the difference of two reads of the clock in a row. */
	.globl	bench_empty
	.type	bench_empty, @function
bench_empty:
	read_clock %rcx
	read_clock %rax
	sub	%rcx, %rax
	ret
	.size	bench_empty, . - bench_empty

	.section .note.GNU-stack, "", %progbits
