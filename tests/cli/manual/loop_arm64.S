/* loop(turns): two instructions a turn, and the return. */
	.globl loop
	.type loop, %function
loop:	subs x0, x0, #1
	b.ne loop
	ret
	.section .note.GNU-stack, "", %progbits
