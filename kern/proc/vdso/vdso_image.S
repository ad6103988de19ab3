/*
 * The vDSO of the machine.  The Makefile links it at path VDSO before it
 * assembles this file.
 */
	.section .rodata
	.balign	8
	.globl	vdso_image, vdso_image_end
vdso_image:
	.incbin	VDSO
vdso_image_end:
	.balign	8

	.section .note.GNU-stack, "", %progbits
