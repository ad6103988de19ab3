/*
 * clone_thread() of tests/lib/image/test.h.
 *
 * clone(2): on arm64 the arguments are flags, stack, parent's word, TLS,
 * child's word.  The child has its parent's registers but for x0 and sp.
 */
	.text
	.globl	clone_thread
	.type	clone_thread, %function
clone_thread:
	mov	x5, x0
	mov	x0, x2
	mov	x4, x3
	mov	x2, #0
	mov	x3, #0
	mov	x8, #220		/* SYS_clone */
	svc	#0
	cbnz	x0, 1f
	mov	x29, #0
	blr	x5
	mov	x8, #93			/* SYS_exit */
	svc	#0
	udf	#0
1:	ret
	.size	clone_thread, . - clone_thread
	.section .note.GNU-stack, "", %progbits
