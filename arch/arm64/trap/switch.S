/* Switches from one LWP's kernel stack to another's. */
#include "arch/arm64/trap/pairs.inc"

	.text

/*
 * void arm64_switch(void **from_sp, void *to_sp)
 *
 * Save the callee-saved registers as a struct switch_frame (lwp.c) and store
 * its address to *from_sp.  Then load those at to_sp.
 */
	.globl	arm64_switch
arm64_switch:
	sub	sp, sp, #96
	pairs	stp, x, 8, sp, -152, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	mov	x2, sp
	str	x2, [x0]
	mov	sp, x1
	pairs	ldp, x, 8, sp, -152, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	add	sp, sp, #96
	ret

/* A new LWP starts here: call fn(arg), which does not return. */
	.globl	arm64_lwp_first
arm64_lwp_first:
	mov	x0, x20
	blr	x19
