/*
 * Loops whose cycles, misses and hot instruction follow from a planted machine.  LOOP is CHAIN, WALK or HOT.  CHAIN is 16
 * multiplications, each of which waits for the one before.  WALK loads a word of each line of BYTES bytes, 20 times.  HOT is a
 * division that waits for the one before.  The others retire in its cycle (width 4), so all cycles are those of divisions.  Samples
 * at a fixed period could miss a part of them: each interrupt puts the loop in step again.
 */
#define CHAIN 1
#define WALK  2
#define HOT   3

	.text
	.globl	_start, loop
	.type	loop, %function
#ifdef __x86_64__
loop:
	mov	$20000, %r12d
#if LOOP == CHAIN
1:	.rept	16
	imul	%rax, %rax
	.endr
#elif LOOP == WALK
	mov	$20, %r12d
1:	lea	area(%rip), %rsi
	mov	$(BYTES / 64), %ecx
2:	mov	(%rsi), %rax
	add	$64, %rsi
	dec	%ecx
	jnz	2b
#else
	mov	$7, %ecx
	xor	%edx, %edx
1:	div	%ecx /* by more than the last remainder, edx: no overflow */
	add	$1, %r10
#endif
	dec	%r12
	jnz	1b
	ret
	.size	loop, . - loop
_start:
	call	loop
	mov	$60, %eax
	xor	%edi, %edi
	syscall
#else
loop:
	mov	x12, 20000
#if LOOP == CHAIN
1:	.rept	16
	mul	x0, x0, x0
	.endr
#elif LOOP == WALK
	mov	x12, 20
1:	adrp	x1, area
	mov	x2, BYTES / 64
2:	ldr	x0, [x1], 64
	subs	x2, x2, 1
	b.ne	2b
#else
	mov	x2, 7
1:	udiv	x0, x0, x2
	add	x10, x10, 1
#endif
	subs	x12, x12, 1
	b.ne	1b
	ret
	.size	loop, . - loop
_start:
	bl	loop
	mov	x8, 93
	mov	x0, 0
	svc	0
#endif
	.data /* a segment of .bss alone lies past the end of the file */
	.balign	4096
area:	.zero	131072
	.section .note.GNU-stack, "", %progbits
