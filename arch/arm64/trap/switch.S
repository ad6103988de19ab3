/*
 * Switches from one LWP's kernel stack to another's.
 */
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
	stp	x19, x20, [sp]
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	stp	x29, x30, [sp, #80]
	mov	x2, sp
	str	x2, [x0]
	mov	sp, x1
	ldp	x19, x20, [sp]
	ldp	x21, x22, [sp, #16]
	ldp	x23, x24, [sp, #32]
	ldp	x25, x26, [sp, #48]
	ldp	x27, x28, [sp, #64]
	ldp	x29, x30, [sp, #80]
	add	sp, sp, #96
	ret

/* A new LWP starts here: call fn(arg), which does not return. */
	.globl	arm64_lwp_first
arm64_lwp_first:
	mov	x0, x20
	blr	x19
