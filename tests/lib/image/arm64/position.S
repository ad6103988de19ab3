/*
 * For tests/image/overflow/cpc_position.c.
 *
 * void position_enter(void *code, long number, long op, uint64_t a): put a
 * system call's number and arguments into registers and jump to code.  The code
 * begins with that system call.  The constants are the instructions of which
 * the test builds code.
 */
	.text
	.globl	position_enter
	.type	position_enter, %function
position_enter:
	mov	x9, x0
	mov	x8, x1
	mov	x0, x2
	mov	x1, x3
	br	x9
	.size	position_enter, . - position_enter

	.section .rodata
	.globl	position_call, position_step, position_return, position_end
position_call:
	svc	#0
position_step:
	nop
position_return:
	ret
position_end:
	.section .note.GNU-stack, "", %progbits
