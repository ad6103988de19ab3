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

	/* Store %ecx entries from %rdi on, each \step above the one before. */
	.macro	fill step
1:	mov	%rax, (%rdi)
	add	$\step, %rax
	add	$8, %rdi
	dec	%ecx
	jnz	1b
	.endm

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
	fill	0x200000
	lea	x86_early_pdpt(%rip), %rdi
	lea	pd_low + PTE_P + PTE_W(%rip), %rax
	mov	$4, %ecx
	fill	0x1000
	lea	early_pml4(%rip), %rdi
	lea	x86_early_pdpt + PTE_P + PTE_W(%rip), %rax
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
	fill	0x200000

	/* Map the boot stack in its slot, with nothing below it. */
	lea	pd_kstack + PTE_P + PTE_W(%rip), %rax
	mov	%rax, pdpt_high + 8 * 511(%rip)
	lea	pt_kstack + PTE_P + PTE_W(%rip), %rax
	mov	%rax, pd_kstack(%rip)
	lea	pt_kstack(%rip), %rdi
	lea	x86_boot_stack + PTE_P + PTE_W(%rip), %rax
	mov	$(1 << KSTACK_SHIFT) / 4096, %ecx
	fill	0x1000

	/* Above 4 GiB, this code needs its own GiB mapped one to one. */
	mov	%rbx, %rax
	shr	$30, %rax
	cmp	$4, %rax
	jb	2f
	lea	x86_early_pdpt(%rip), %rdi
	lea	pd_here + PTE_P + PTE_W(%rip), %rcx
	mov	%rcx, (%rdi, %rax, 8)
	shl	$30, %rax
	or	$PTE_P | PTE_W | PTE_PS, %rax
	lea	pd_here(%rip), %rdi
	mov	$512, %ecx
	fill	0x200000

2:	mov	%cr4, %rax
	test	$CR4_LA57, %eax
	jnz	leave_five_levels
four_levels:
	lea	early_pml4(%rip), %rax
	mov	%rax, %cr3
	mov	$high, %rax
	jmp	*%rax

high:	mov	$BOOT_STACK + (1 << KSTACK_SHIFT) - TF_BYTES, %rsp
	xor	%ebp, %ebp
	mov	$__bss_start, %rdi
	mov	$__bss_end, %rdx
	sub	%rdi, %rdx
	xor	%esi, %esi
	call	memset
	mov	%r15, boot_entry_tick(%rip)
	mov	%r12, %rdi
	mov	%rbx, %rsi
	call	x86_boot

/*
 * Firmware or Linux uses five-level paging.  The CPU can leave it only with
 * paging off.  That needs 32-bit mode below 4 GiB, where %r8 to %r15 and the
 * upper halves of other registers are lost.  So this code is copied: into the
 * image's own memory, or if that is above 4 GiB to the memory where other CPUs
 * start later.
 * Intel SDM vol. 3A, "Four-Level and Five-Level Paging" (CR4.LA57), "IA-32e
 * Mode Operating Environment".
 */
#define COPY(sym) sym - low_code(%rbp)
leave_five_levels:
	lea	early_pml4(%rip), %rax
	lea	low_room(%rip), %rdi
	mov	%rbx, %rcx
	shr	$32, %rcx
	jz	1f
	mov	%rax, %rsi
	mov	$TRAMPOLINE_PA + 4096, %edi
	mov	%rdi, %rax		/* a root below 4 GiB */
	mov	$512, %ecx
	rep movsq
	mov	$TRAMPOLINE_PA, %edi
1:	mov	%rdi, %rbp
	lea	low_code(%rip), %rsi
	mov	$low_code_end - low_code, %ecx
	rep movsb
	mov	%rbx, COPY(saved_rbx)
	mov	%r12, COPY(saved_r12)
	mov	%r15, COPY(saved_r15)
	lea	four_levels(%rip), %rcx
	mov	%rcx, COPY(saved_rip)
	lea	COPY(gdt), %rcx
	mov	%rcx, COPY(gdtr + 2)
	lgdt	COPY(gdtr)
	lea	COPY(low_code_end), %rsp
	lea	COPY(paging_off), %rcx
	push	$SEL_CODE32
	push	%rcx
	lretq

	.section .rodata
	.balign	8
low_code:
gdt:	.quad	0
	.quad	0x00af9b000000ffff	/* SEL_KCODE */
	.quad	0x00cf93000000ffff	/* SEL_KDATA */
	.quad	0x00cf9b000000ffff	/* SEL_CODE32 */
gdtr:	.word	. - gdt - 1
	.quad	0
saved_rbx:	.quad 0
saved_r12:	.quad 0
saved_r15:	.quad 0
saved_rip:	.quad 0

	.code32
paging_off:
	mov	$SEL_KDATA, %ecx
	mov	%ecx, %ds
	mov	%ecx, %es
	mov	%ecx, %ss
	mov	%cr0, %ecx
	and	$~CR0_PG, %ecx
	mov	%ecx, %cr0
	mov	%cr4, %ecx
	and	$~CR4_LA57, %ecx
	mov	%ecx, %cr4
	mov	%eax, %cr3
	mov	%cr0, %ecx
	or	$CR0_PG, %ecx
	mov	%ecx, %cr0
	lea	back_in_long_mode - low_code(%ebp), %ecx
	push	$SEL_KCODE
	push	%ecx
	lret

	.code64
back_in_long_mode:
	mov	%ebp, %ebp
	mov	COPY(saved_rbx), %rbx
	mov	COPY(saved_r12), %r12
	mov	COPY(saved_r15), %r15
	jmp	*COPY(saved_rip)
	.skip	32			/* the stack */
low_code_end:

	.section .bss.early, "aw", @nobits
	.balign	4096
early_tables:
early_pml4:	.skip 4096
	.globl	x86_early_pdpt
x86_early_pdpt:	.skip 4096
pd_low:		.skip 4 * 4096
pdpt_high:	.skip 4096
pd_image:	.skip 4096
pd_kstack:	.skip 4096
pt_kstack:	.skip 4096
pd_here:	.skip 4096
	.if	. - early_tables - EARLY_TABLES * 4096
	.error	"EARLY_TABLES"
	.endif
low_room:	.skip low_code_end - low_code
