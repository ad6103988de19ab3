/*
 * efi_arm64_enter(bi, entry): enter the kernel with x0 = bi, in the state that
 * a Linux Image expects.  MMU and data cache are off, interrupts are masked,
 * and the exception level is the firmware's.  This code must be in memory
 * that is mapped one to one and cleaned from the caches.
 *
 * Arm ARM (DDI 0487), "SCTLR_EL1" and "SCTLR_EL2": M is bit 0, C is bit 2,
 * I is bit 12.
 */
#define SCTLR_OFF ((1 << 0) | (1 << 2) | (1 << 12))

	.text
	.global	efi_arm64_enter, efi_arm64_enter_end
	.hidden	efi_arm64_enter, efi_arm64_enter_end
efi_arm64_enter:
	msr	daifset, #15
	ic	iallu			/* drop old instructions */
	dsb	sy
	isb
	mov	x2, #SCTLR_OFF
	mrs	x3, CurrentEL
	cmp	x3, #(2 << 2)
	b.eq	1f
	mrs	x3, sctlr_el1
	bic	x3, x3, x2
	msr	sctlr_el1, x3
	b	2f
1:	mrs	x3, sctlr_el2
	bic	x3, x3, x2
	msr	sctlr_el2, x3
2:	isb
	mov	x4, x1
	mov	x1, xzr			/* reserved by the boot protocol */
	mov	x2, xzr
	mov	x3, xzr
	br	x4
efi_arm64_enter_end:

	.section .note.GNU-stack, "", %progbits
