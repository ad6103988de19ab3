/*
 * uint64_t pic_read(unsigned index): read the counter to which RDPMC gives
 * this index.  Intel SDM vol. 2, "RDPMC"; AMD APM vol. 3 (24594), "RDPMC".
 */
	.text
	.globl	pic_read
	.type	pic_read, @function
pic_read:
	mov	%edi, %ecx
	rdpmc
	shl	$32, %rdx
	or	%rdx, %rax
	ret
	.size	pic_read, . - pic_read
	.section .note.GNU-stack, "", @progbits
