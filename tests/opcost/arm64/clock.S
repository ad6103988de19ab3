/*
 * The clock of opcost on arm64, and code that its tests interrupt.
 *
 * uint64_t cost_clock(void): CNTVCT_EL0, not reordered with instructions
 * before or after it.  Arm ARM (DDI 0487), "CNTVCT_EL0".
 */
	.text
	.globl	cost_clock
	.type	cost_clock, %function
cost_clock:
	isb
	mrs	x0, cntvct_el0
	ret
	.size	cost_clock, . - cost_clock

/* void cost_fault(void): raises SIGILL, whose handler continues at the end. */
	.globl	cost_fault, cost_fault_end
	.type	cost_fault, %function
cost_fault:
	udf	#0
cost_fault_end:
	ret
	.size	cost_fault, . - cost_fault

	/* Read the clock.  Every read takes the same number of instructions. */
	.macro	read_clock reg
	isb
	mrs	\reg, cntvct_el0
	.endm

/* uint64_t cost_sled(void): reads the clock, then runs nops.  Returns the clock. */
	.globl	cost_sled, cost_sled_first, cost_sled_end
	.type	cost_sled, %function
cost_sled:
	read_clock x0
cost_sled_first:
	.rept	4500
	nop
	.endr
cost_sled_end:
	ret
	.size	cost_sled, . - cost_sled

/* cost_note(int, siginfo_t *, void *): cost_noted gets the clock and the PC. */
	.globl	cost_note
	.type	cost_note, %function
cost_note:
	read_clock x3
	adrp	x4, cost_noted
	add	x4, x4, :lo12:cost_noted
	ldr	x5, [x1, #16]			/* si_addr */
	stp	x3, x5, [x4]
	ret
	.size	cost_note, . - cost_note

/* uint64_t cost_empty(void): the difference of two adjacent clock reads. */
	.globl	cost_empty
	.type	cost_empty, %function
cost_empty:
	read_clock x0
	read_clock x1
	sub	x0, x1, x0
	ret
	.size	cost_empty, . - cost_empty

	.section .note.GNU-stack, "", %progbits
