/*
 * For tests/image/hostile/privilege.c: instructions that need a privilege, and
 * the values that name the privileges.  Arm ARM (DDI 0487), "CurrentEL",
 * "DAIF", "TTBR1_EL1".
 */
	.text
	.globl	privilege_now, privilege_page_tables
	.globl	privilege_mask_interrupts, privilege_unmask_interrupts
privilege_now:
	mrs	x0, CurrentEL
	ubfx	w0, w0, #2, #2
	ret
privilege_page_tables:
	mrs	x0, ttbr1_el1
	ret
privilege_mask_interrupts:
	msr	daifset, #2
	ret
privilege_unmask_interrupts:
	msr	daifclr, #2
	ret

	.section .rodata
	.balign	4
	.globl	privilege_user, privilege_system, privilege_seen_by_user
privilege_user:
	.long	0
privilege_system:
	.long	1
privilege_seen_by_user:
	.long	0
	.section .note.GNU-stack, "", %progbits
