/* The kernel in the UEFI application.  EFI_KERNEL is the path of its image. */
	.section .rodata, "a", %progbits
	.balign	4096
	.global	efi_kernel, efi_kernel_end
	.hidden	efi_kernel, efi_kernel_end
efi_kernel:
	.incbin	EFI_KERNEL
efi_kernel_end:
	.byte	0		/* the end has an address inside the section */

	.section .note.GNU-stack, "", %progbits
