/*
 * Entry of PVH: QEMU's -kernel, Firecracker, Cloud Hypervisor.  The CPU is in
 * 32-bit protected mode without paging, and %ebx is the physical address of
 * the start info.  %eax is undefined: machines differ.  The image is where its
 * ELF header says, so addresses are constants here.
 * Xen, "x86/HVM direct boot ABI".
 */
#include "arch/x86/asm.h"

#define PHYS(sym)                ((sym) - IMAGE_BASE + IMAGE_LOAD_PA)
/* A symbol of the image at %ebp, and element i of an array of 8 bytes. */
#define AT(sym)                  sym - IMAGE_BASE(%ebp)
#define AT2(sym, i)              sym - IMAGE_BASE(%ebp, i, 8)

#define NPD                      4 /* GiB */

#define XEN_ELFNOTE_PHYS32_ENTRY 18
#define HVM_START_MAGIC          0x336ec578

#define COM1_DATA                0x3f8
#define COM1_LSR                 0x3fd
#define LSR_THRE                 0x20

/* CPUID.80000001H:EDX: 64-bit mode. */
#define CPUID_EXT_LM             29

	.section .note.pvh, "a", @note
	.long	4, 4, XEN_ELFNOTE_PHYS32_ENTRY
	.asciz	"Xen"
	.long	PHYS(pvh_start)

	.text
	.code32
pvh_start:
	cli
	cld
	rdtsc
	mov	%eax, %esi		/* the entry's tick: %edi:%esi */
	mov	%edx, %edi

	mov	$IMAGE_LOAD_PA, %ebp
	cmpl	$HVM_START_MAGIC, (%ebx)
	je	x86_enter_long
	lea	AT(no_start_info), %ebp
	jmp	complain

/*
 * Enter long mode and x86_start64.  The CPU is in 32-bit protected mode without
 * paging.  The physical address of the image, a multiple of 2 MiB, is in %ebp.
 * The address that the loader handed over is in %ebx.  The tick of the kernel's
 * start is in %edi:%esi.
 */
	.globl	x86_enter_long
x86_enter_long:
	mov	%ebx, %esp		/* CPUID writes %ebx; no stack yet */
	mov	$0x80000000, %eax
	cpuid
	cmp	$0x80000001, %eax
	jb	too_old
	mov	$0x80000001, %eax
	cpuid
	bt	$CPUID_EXT_LM, %edx
	jnc	too_old
	mov	%esp, %ebx

	/* The first 4 GiB, one to one: x86_start64 makes tables of its own. */
	lea	PTE_P + PTE_W + AT(pvh_pdpt), %eax
	mov	%eax, AT(pvh_pml4)
	movl	$0, 4 + AT(pvh_pml4)
	lea	PTE_P + PTE_W + AT(pvh_pd), %eax
	xor	%ecx, %ecx
1:	mov	%eax, AT2(pvh_pdpt, %ecx)
	movl	$0, 4 + AT2(pvh_pdpt, %ecx)
	add	$0x1000, %eax
	inc	%ecx
	cmp	$NPD, %ecx
	jb	1b
	mov	$PTE_P | PTE_W | PTE_PS, %eax
	xor	%ecx, %ecx
1:	mov	%eax, AT2(pvh_pd, %ecx)
	movl	$0, 4 + AT2(pvh_pd, %ecx)
	add	$0x200000, %eax
	inc	%ecx
	cmp	$NPD * 512, %ecx
	jb	1b

	/* Intel SDM vol. 3A, "Initializing IA-32e Mode". */
	mov	$CR4_PAE, %eax
	mov	%eax, %cr4
	lea	AT(pvh_pml4), %eax
	mov	%eax, %cr3
	mov	$MSR_EFER, %ecx
	rdmsr
	or	$EFER_LME, %eax
	wrmsr
	mov	$CR0_PE | CR0_ET | CR0_NE | CR0_WP | CR0_PG, %eax
	mov	%eax, %cr0
	lea	(1 << KSTACK_SHIFT) + AT(x86_boot_stack), %esp
	lea	AT(pvh_gdt), %eax
	push	%eax
	pushw	$pvh_gdt_end - pvh_gdt - 1
	lgdt	(%esp)
	lea	AT(long_mode), %eax
	push	$SEL_KCODE
	push	%eax
	lret

too_old:
	lea	AT(no_long_mode), %ebp
/* Print the string at %ebp if there is a serial line, and end the run. */
complain:
	mov	$100000, %ecx
1:	mov	$COM1_LSR, %dx
	in	%dx, %al
	test	$LSR_THRE, %al
	loopz	1b
	mov	$COM1_DATA, %dx
	mov	(%ebp), %al
	inc	%ebp
	out	%al, %dx
	cmpb	$0, (%ebp)
	jne	complain
	mov	$HALT_FAIL, %al
	out	%al, $DEBUG_EXIT
2:	hlt
	jmp	2b

	.code64
long_mode:
	mov	$SEL_KDATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	%esi, %r15d
	mov	%edi, %eax
	shl	$32, %rax
	or	%rax, %r15
	mov	%ebx, %edi
	jmp	x86_start64

	.section .rodata
	.balign	8
pvh_gdt:
	.quad	0
	.quad	0x00af9b000000ffff	/* SEL_KCODE */
	.quad	0x00cf93000000ffff	/* SEL_KDATA */
pvh_gdt_end:
no_start_info:
	.asciz	"barecpc: started without a PVH start info\r\n"
no_long_mode:
	.asciz	"barecpc: this CPU has no 64-bit mode; give it one that has\r\n"

	.section .bss.early, "aw", @nobits
	.balign	4096
pvh_pml4:	.skip 4096
pvh_pdpt:	.skip 4096
pvh_pd:		.skip NPD * 4096
