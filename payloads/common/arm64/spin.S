/*
 * void spin_loop(uint64_t iterations): retires two instructions an iteration,
 * and a constant number around them.  iterations > 0.
 */
	.text
	.globl	spin_loop
	.type	spin_loop, %function
	.balign	64		/* the loop is in one fetch block */
spin_loop:
1:	subs	x0, x0, #1
	b.ne	1b
	ret
	.size	spin_loop, . - spin_loop

/* void give_turn(void): a hint on which an emulator lets another CPU run. */
	.globl	give_turn
	.type	give_turn, %function
give_turn:
	yield
	ret
	.size	give_turn, . - give_turn
	.section .note.GNU-stack, "", %progbits
