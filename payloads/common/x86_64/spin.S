/*
 * void spin_loop(uint64_t iterations): retires two instructions an iteration,
 * and a constant number around them.  iterations > 0.  A core may fuse the two
 * into one micro-operation; it still retires two instructions.
 */
	.text
	.globl	spin_loop
	.type	spin_loop, @function
	.balign	64		/* the loop is in one fetch block */
spin_loop:
1:	dec	%rdi
	jnz	1b
	ret
	.size	spin_loop, . - spin_loop

/* void give_turn(void): a hint on which an emulator lets another CPU run. */
	.globl	give_turn
	.type	give_turn, @function
give_turn:
	pause
	ret
	.size	give_turn, . - give_turn
	.section .note.GNU-stack, "", @progbits
