/* Functions without a relocation, for tests/image/process/codegen.c to copy. */
	.section .rodata
	.balign	8
	.globl	return_one, return_one_end, return_two, return_two_end
return_one:
	mov	w0, #1
	ret
return_one_end:
	.balign	8
return_two:
	mov	w0, #2
	ret
return_two_end:
	.section .note.GNU-stack, "", %progbits
