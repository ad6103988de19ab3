/*
 * The 64-bit entry that all loaders share.  The code starts in memory that is
 * mapped one to one.  It makes the first page tables, and calls x86_boot() at
 * the image's link address, on the boot stack.
 *
 * On entry the CPU is in long mode with interrupts off.  The image is at any
 * 2 MiB boundary.  %rdi has the physical address of a struct bootinfo, a PVH
 * start info, or Linux's struct boot_params.
 */
#include "arch/x86/asm.h"

#define EARLY_TABLES 11

	.text
	.globl	x86_entry64
x86_entry64:
	cli
	cld
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %r15

/* The same entry, with the tick of the kernel's start in %r15. */
	.globl	x86_start64
x86_start64:
	mov	%rdi, %r12
	lea	_start(%rip), %rbx	/* the image's physical address */
	lea	early_tables(%rip), %rdi
	mov	$EARLY_TABLES * 512, %ecx
	xor	%eax, %eax
	rep stosq

	/* Map the first 4 GiB one to one, and in the direct map. */
	lea	pd_low(%rip), %rdi
	mov	$PTE_P | PTE_W | PTE_PS, %eax
	mov	$4 * 512, %ecx
1:	mov	%rax, (%rdi)
	add	$0x200000, %rax
	add	$8, %rdi
	dec	%ecx
	jnz	1b
	lea	pdpt_low(%rip), %rdi
	lea	pd_low + PTE_P + PTE_W(%rip), %rax
	mov	$4, %ecx
1:	mov	%rax, (%rdi)
	add	$0x1000, %rax
	add	$8, %rdi
	dec	%ecx
	jnz	1b
	lea	early_pml4(%rip), %rdi
	lea	pdpt_low + PTE_P + PTE_W(%rip), %rax
	mov	%rax, (%rdi)
	mov	%rax, 8 * 256(%rdi)

	/* Map the image at its link address, in the last GiB but one. */
	lea	pdpt_high + PTE_P + PTE_W(%rip), %rax
	mov	%rax, 8 * 511(%rdi)
	lea	pd_image + PTE_P + PTE_W(%rip), %rax
	mov	%rax, pdpt_high + 8 * 510(%rip)
	lea	pd_image(%rip), %rdi
	lea	PTE_P + PTE_W + PTE_PS(%rbx), %rax
	mov	$__kern_bytes + 0x1fffff, %ecx
	shr	$21, %ecx
1:	mov	%rax, (%rdi)
	add	$0x200000, %rax
	add	$8, %rdi
	dec	%ecx
	jnz	1b

	/* Map the boot stack in its slot, with nothing below it. */
	lea	pd_kstack + PTE_P + PTE_W(%rip), %rax
	mov	%rax, pdpt_high + 8 * 511(%rip)
	lea	pt_kstack + PTE_P + PTE_W(%rip), %rax
	mov	%rax, pd_kstack(%rip)
	lea	pt_kstack(%rip), %rdi
	lea	x86_boot_stack + PTE_P + PTE_W(%rip), %rax
	mov	$(1 << KSTACK_SHIFT) / 4096, %ecx
1:	mov	%rax, (%rdi)
	add	$0x1000, %rax
	add	$8, %rdi
	dec	%ecx
	jnz	1b

	/* Above 4 GiB, this code needs its own page mapped one to one. */
	mov	%rbx, %rax
	shr	$30, %rax
	cmp	$4, %rax
	jb	2f
	lea	pdpt_low(%rip), %rdi
	lea	pd_here + PTE_P + PTE_W(%rip), %rcx
	mov	%rcx, (%rdi, %rax, 8)
	mov	%rbx, %rax
	shr	$21, %rax
	and	$511, %eax
	lea	pd_here(%rip), %rdi
	lea	PTE_P + PTE_W + PTE_PS(%rbx), %rcx
	mov	%rcx, (%rdi, %rax, 8)

2:	mov	%cr4, %rax
	test	$CR4_LA57, %eax
	jnz	leave_five_levels
	lea	early_pml4(%rip), %rax
	mov	%rax, %cr3
four_levels:
	mov	$high, %rax
	jmp	*%rax

high:	mov	$BOOT_STACK + (1 << KSTACK_SHIFT) - TF_BYTES, %rsp
	xor	%ebp, %ebp
	mov	$__bss_start, %rdi
	mov	$__bss_end, %rcx
	sub	%rdi, %rcx
	shr	$3, %rcx
	xor	%eax, %eax
	rep stosq
	mov	%r15, boot_entry_tick(%rip)
	mov	%r12, %rdi
	mov	%rbx, %rsi
	call	x86_boot

/*
 * Firmware uses five-level paging.  The CPU can leave it only with paging off.
 * That needs 32-bit mode below 4 GiB, where %r8 to %r15 are lost.
 * Intel SDM vol. 3A, "Four-Level and Five-Level Paging" (CR4.LA57), "IA-32e
 * Mode Operating Environment".
 */
leave_five_levels:
	mov	%rbx, %rax
	shr	$32, %rax
	jnz	too_high
	mov	%r12, saved_r12(%rip)
	mov	%r15, saved_r15(%rip)
	lea	x86_boot_stack + (1 << KSTACK_SHIFT)(%rip), %rsp
	lea	early_pml4(%rip), %rsi
	lea	back_in_long_mode(%rip), %rdi
	lea	gdt(%rip), %rax
	sub	$16, %rsp
	movw	$gdt_end - gdt - 1, (%rsp)
	mov	%rax, 2(%rsp)
	lgdt	(%rsp)
	lea	paging_off(%rip), %rax
	push	$SEL_CODE32
	push	%rax
	lretq

	.code32
paging_off:
	mov	$SEL_KDATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	%cr0, %eax
	and	$~CR0_PG, %eax
	mov	%eax, %cr0
	mov	%cr4, %eax
	and	$~CR4_LA57, %eax
	mov	%eax, %cr4
	mov	%esi, %cr3
	mov	%cr0, %eax
	or	$CR0_PG, %eax
	mov	%eax, %cr0
	push	$SEL_KCODE
	push	%edi
	lret

	.code64
back_in_long_mode:
	mov	%ebx, %ebx
	mov	saved_r12(%rip), %r12
	mov	saved_r15(%rip), %r15
	jmp	four_levels

too_high:
	lea	too_high_text(%rip), %rsi
3:	lodsb
	test	%al, %al
	jz	4f
	mov	$0x3f8, %edx		/* COM1 */
	outb	%al, %dx
	jmp	3b
4:	mov	$HALT_FAIL, %al
	out	%al, $DEBUG_EXIT
5:	hlt
	jmp	5b

	.section .rodata
	.balign	8
gdt:	.quad	0
	.quad	0x00af9b000000ffff	/* SEL_KCODE */
	.quad	0x00cf93000000ffff	/* SEL_KDATA */
	.quad	0x00cf9b000000ffff	/* SEL_CODE32 */
gdt_end:
too_high_text:
	.ascii	"barecpc: firmware uses five-level paging and put the image "
	.asciz	"above 4 GiB; turn one of them off\r\n"

	.section .bss.early, "aw", @nobits
	.balign	4096
early_tables:
early_pml4:	.skip 4096
pdpt_low:	.skip 4096
pd_low:		.skip 4 * 4096
pdpt_high:	.skip 4096
pd_image:	.skip 4096
pd_kstack:	.skip 4096
pt_kstack:	.skip 4096
pd_here:	.skip 4096
saved_r12:	.skip 8
saved_r15:	.skip 8
	.if	. - 16 - early_tables - EARLY_TABLES * 4096
	.error	"EARLY_TABLES"
	.endif
