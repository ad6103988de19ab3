/*
 * void script_run(const struct op *script): see
 * tests/image/random_script/script.h.  It uses no stack while it runs, so that
 * a new LWP needs none.
 */
	.text
	.globl	script_run
	.type	script_run, %function
script_run:
	stp	x19, x30, [sp, #-16]!
	mov	x19, x0
next:
	ldr	x8, [x19]		/* op_sysno */
	tbnz	x8, #63, end
	ldp	x0, x1, [x19, #8]	/* op_arg */
	ldp	x2, x3, [x19, #24]
	ldp	x4, x5, [x19, #40]
	svc	#0			/* instruction 6 of script_before */

	ldr	x9, [x19, #56]		/* op_result */
	str	x0, [x9]
	ldp	x10, x11, [x19, #64]	/* op_spins, op_zero */
	add	x19, x19, #80
	cmp	x0, #0
	csel	x19, x11, x19, eq
1:	subs	x10, x10, #1
	b.ne	1b
	b	next			/* instruction 7 of script_after, without the loop */
end:
	ldp	x19, x30, [sp], #16
	ret
	.size	script_run, . - script_run

/* The signal handlers of scripts. */
	.globl	script_restarting, script_returning
	.type	script_restarting, %function
script_restarting:
	adrp	x9, script_calls
	add	x9, x9, #:lo12:script_calls
	ldp	x8, x0, [x9]
	mov	x1, #0
	svc	#0			/* instruction 5 of script_restart */
	.size	script_restarting, . - script_restarting

	.type	script_returning, %function
script_returning:
	adrp	x9, script_calls
	add	x9, x9, #:lo12:script_calls
	ldr	x8, [x9, #16]
	svc	#0			/* instruction 4 of script_return */
	.size	script_returning, . - script_returning

	.section .rodata
	.balign	8
	.globl	script_before, script_after, script_restart, script_return
script_before:
	.quad	6
script_after:
	.quad	7
script_restart:
	.quad	5
script_return:
	.quad	4
	.section .note.GNU-stack, "", %progbits
