/*
 * The clock of opcost on x86-64, and code that its tests interrupt.
 *
 * uint64_t cost_clock(void): the TSC, after all earlier instructions.
 * Intel SDM vol. 2B, "RDTSC".
 */
	.text
	.globl	cost_clock
	.type	cost_clock, @function
cost_clock:
	lfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	ret
	.size	cost_clock, . - cost_clock

/* void cost_fault(void): raises SIGILL, whose handler continues at the end. */
	.globl	cost_fault, cost_fault_end
	.type	cost_fault, @function
cost_fault:
	ud2
cost_fault_end:
	ret
	.size	cost_fault, . - cost_fault

	/* Read the clock.  Every read takes the same number of instructions. */
	.macro	read_clock reg
	lfence
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	mov	%rdx, \reg
	.endm

/* uint64_t cost_sled(void): reads the clock, then runs nops.  Returns the clock. */
	.globl	cost_sled, cost_sled_first, cost_sled_end
	.type	cost_sled, @function
cost_sled:
	read_clock %rax
cost_sled_first:
	.rept	4500
	nop
	.endr
cost_sled_end:
	ret
	.size	cost_sled, . - cost_sled

/* cost_note(int, siginfo_t *, void *): cost_noted gets the clock and the PC. */
	.globl	cost_note
	.type	cost_note, @function
cost_note:
	read_clock %rcx
	mov	%rcx, cost_noted(%rip)
	mov	16(%rsi), %rax			/* si_addr */
	mov	%rax, cost_noted + 8(%rip)
	ret
	.size	cost_note, . - cost_note

/* uint64_t cost_empty(void): the difference of two adjacent clock reads. */
	.globl	cost_empty
	.type	cost_empty, @function
cost_empty:
	read_clock %rcx
	read_clock %rax
	sub	%rcx, %rax
	ret
	.size	cost_empty, . - cost_empty

	.section .note.GNU-stack, "", %progbits
