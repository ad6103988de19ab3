/* The machine's vDSO, which the Makefile links at path VDSO before this. */
	.section .rodata
	.balign	8
	.globl	vdso_image, vdso_image_end
vdso_image:
	.incbin	VDSO
vdso_image_end:
	.balign	8

	.section .note.GNU-stack, "", %progbits
