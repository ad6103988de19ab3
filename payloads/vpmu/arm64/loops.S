/*
 * The loops of vpmu --events, each void NAME(uint64_t iterations) with
 * iterations > 0.  payloads/vpmu/believe.c says what an iteration retires.
 */
	.text
	.globl	load_loop, store_loop, random_loop, chase_loop
	.type	load_loop, %function
	.type	store_loop, %function
	.type	random_loop, %function
	.type	chase_loop, %function
	.balign	64
load_loop:
	sub	sp, sp, #16
1:	ldr	x1, [sp]
	subs	x0, x0, #1
	b.ne	1b
	add	sp, sp, #16
	ret
	.size	load_loop, . - load_loop

	.balign	64
store_loop:
	sub	sp, sp, #16
1:	str	x0, [sp]
	subs	x0, x0, #1
	b.ne	1b
	add	sp, sp, #16
	ret
	.size	store_loop, . - store_loop

/* G. Marsaglia, "Xorshift RNGs", 2003: 13, 7, 17.  Bit 20 decides a branch. */
	.balign	64
random_loop:
	adrp	x2, random_state
	ldr	x1, [x2, :lo12:random_state]
1:	eor	x1, x1, x1, lsl #13
	eor	x1, x1, x1, lsr #7
	eor	x1, x1, x1, lsl #17
	tbz	x1, #20, 2f
	mov	x3, xzr
2:	subs	x0, x0, #1
	b.ne	1b
	str	x1, [x2, :lo12:random_state]
	ret
	.size	random_loop, . - random_loop

	.balign	64
chase_loop:
	adrp	x2, chase_place
	ldr	x1, [x2, :lo12:chase_place]
1:	ldr	x1, [x1]
	subs	x0, x0, #1
	b.ne	1b
	str	x1, [x2, :lo12:chase_place]
	ret
	.size	chase_loop, . - chase_loop

	.data
	.balign	8
random_state:
	.quad	0x9e3779b97f4a7c15
	.section .note.GNU-stack, "", %progbits
