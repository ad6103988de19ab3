/* loop(turns): two instructions a turn, and the return. */
	.globl loop
	.type loop, @function
loop:	dec %rdi
	jnz loop
	ret
	.section .note.GNU-stack, "", @progbits
