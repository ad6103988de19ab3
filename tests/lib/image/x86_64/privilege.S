/*
 * For tests/image/hostile/privilege.c: instructions that need a privilege, and
 * the values that name the privileges.  Intel SDM vol. 3A, "Privilege Levels"
 * (CPL is in CS), "Control Registers", "Masking Maskable Hardware Interrupts".
 */
	.text
	.globl	privilege_now, privilege_page_tables
	.globl	privilege_mask_interrupts, privilege_unmask_interrupts
privilege_now:
	mov	%cs, %eax
	and	$3, %eax
	ret
privilege_page_tables:
	mov	%cr3, %rax
	ret
privilege_mask_interrupts:
	cli
	ret
privilege_unmask_interrupts:
	sti
	ret

	.section .rodata
	.balign	4
	.globl	privilege_user, privilege_system, privilege_seen_by_user
privilege_user:
	.long	3
privilege_system:
	.long	0
privilege_seen_by_user:
	.long	1
	.section .note.GNU-stack, "", @progbits
