/*
 * The loops of vpmu --events, each void NAME(uint64_t iterations) with
 * iterations > 0.  payloads/vpmu/believe.c says what an iteration retires.
 */
	.text
	.globl	load_loop, store_loop, random_loop, chase_loop
	.type	load_loop, @function
	.type	store_loop, @function
	.type	random_loop, @function
	.type	chase_loop, @function
	.balign	64
load_loop:
1:	mov	-8(%rsp), %rax
	dec	%rdi
	jnz	1b
	ret
	.size	load_loop, . - load_loop

	.balign	64
store_loop:
1:	mov	%rdi, -8(%rsp)
	dec	%rdi
	jnz	1b
	ret
	.size	store_loop, . - store_loop

/* G. Marsaglia, "Xorshift RNGs", 2003: 13, 7, 17.  Bit 20 decides a branch. */
	.balign	64
random_loop:
	mov	random_state(%rip), %rax
1:	mov	%rax, %rcx
	shl	$13, %rcx
	xor	%rcx, %rax
	mov	%rax, %rcx
	shr	$7, %rcx
	xor	%rcx, %rax
	mov	%rax, %rcx
	shl	$17, %rcx
	xor	%rcx, %rax
	test	$1 << 20, %eax
	jz	2f
	xor	%ecx, %ecx
2:	dec	%rdi
	jnz	1b
	mov	%rax, random_state(%rip)
	ret
	.size	random_loop, . - random_loop

	.balign	64
chase_loop:
	mov	chase_place(%rip), %rax
1:	mov	(%rax), %rax
	dec	%rdi
	jnz	1b
	mov	%rax, chase_place(%rip)
	ret
	.size	chase_loop, . - chase_loop

	.data
	.balign	8
random_state:
	.quad	0x9e3779b97f4a7c15
	.section .note.GNU-stack, "", @progbits
