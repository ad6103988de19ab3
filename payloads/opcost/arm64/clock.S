/*
 * The clock of opcost on arm64, and code that its tests interrupt.
 *
 * uint64_t bench_clock(void): CNTVCT_EL0, not reordered with instructions
 * before or after it.  Arm ARM (DDI 0487), "CNTVCT_EL0".
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

	/* The clock, in as many instructions wherever it is read. */
	.macro	read_clock reg
	isb
	mrs	\reg, cntvct_el0
	.endm

/* uint64_t bench_sled(void): reads the clock, then does nothing. */
	.globl	bench_sled, bench_sled_first, bench_sled_end
	.type	bench_sled, %function
bench_sled:
	read_clock x0
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
	.type	bench_note, %function
bench_note:
	read_clock x3
	adrp	x4, bench_noted
	add	x4, x4, :lo12:bench_noted
	ldr	x5, [x1, #16]			/* si_addr */
	stp	x3, x5, [x4]
	ret
	.size	bench_note, . - bench_note

/* uint64_t bench_empty(void): the difference of two reads of the clock in a row. */
	.globl	bench_empty
	.type	bench_empty, %function
bench_empty:
	read_clock x0
	read_clock x1
	sub	x0, x1, x0
	ret
	.size	bench_empty, . - bench_empty

	.section .note.GNU-stack, "", %progbits
