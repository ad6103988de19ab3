/*
 * From PVH's 32-bit entry to main() in long mode, on the first CPU.  The
 * second CPU starts when smp.c sends it a startup IPI.  Also the entries of
 * interrupts.
 *
 * Xen, "x86/HVM direct boot ABI" (the note, EBX at entry); Intel SDM vol. 3A,
 * "Initializing IA-32e Mode", "Interrupt and Exception Handling".
 */
#define CS32 0x08
#define DS32 0x10
#define CS64 0x18
#define UDS  0x23
#define UCS  0x2b

	.section .note.pvh, "a", @note
	.long 4, 4, 18		/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.long start32

	.text
	.code32
	.globl start32
start32:
	cld
	movl %ebx, start_info
	movl $stack_top, %esp
	lgdt gdt_pointer
	ljmp $CS32, $1f
1:	movw $DS32, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	call map_low_4g
	call enter_long_mode
	ljmp $CS64, $2f
	.code64
2:	xorl %eax, %eax
	movw %ax, %ds
	movw %ax, %es
	movl $tss, %eax		/* the descriptor has the base in pieces */
	movw %ax, gdt_tss + 2
	shrl $16, %eax
	movb %al, gdt_tss + 4
	movb %ah, gdt_tss + 7
	movw $0x30, %ax
	ltr %ax
	movl start_info, %edi
	call main
3:	hlt
	jmp 3b

	/* 2 MiB pages 0..4 GiB, present, writable, open to user code */
	.code32
map_low_4g:
	movl $page_dirs + 7, %eax
	movl $pdpt, %edi
	movl $4, %ecx
1:	movl %eax, (%edi)
	addl $4096, %eax
	addl $8, %edi
	loop 1b
	movl $pdpt + 7, pml4
	movl $0x87, %eax
	movl $page_dirs, %edi
	movl $2048, %ecx
2:	movl %eax, (%edi)
	addl $0x200000, %eax
	addl $8, %edi
	loop 2b
	ret

enter_long_mode:
	movl $0x20, %eax	/* CR4.PAE */
	movl %eax, %cr4
	movl $pml4, %eax
	movl %eax, %cr3
	movl $0xc0000080, %ecx	/* IA32_EFER */
	rdmsr
	orl $0x100, %eax	/* LME */
	wrmsr
	movl $0x80000011, %eax	/* PG, ET, PE */
	movl %eax, %cr0
	ret

/* The second CPU's entry: copied to 0x8000, where it starts. */
	.code16
	.globl ap_start, ap_end
ap_start:
	cli
	xorw %ax, %ax
	movw %ax, %ds
	lgdtl 0x8000 + (ap_gdt_pointer - ap_start)
	movl $0x11, %eax
	movl %eax, %cr0
	ljmpl $CS32, $ap_start32
ap_gdt_pointer:
	.word gdt_end - gdt - 1
	.long gdt
ap_end:
	.code32
ap_start32:
	movw $DS32, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	movl $ap_stack_top, %esp
	call enter_long_mode
	ljmp $CS64, $1f
	.code64
1:	xorl %eax, %eax
	movw %ax, %ds
	movw %ax, %es
	call ap_main
2:	hlt
	jmp 2b

/*
 * Expected faults.  R10 is the length of the faulting instruction.  R11
 * becomes 1.  Tests rely on the number of instructions here.
 */
	.globl skip_fault, skip_fault_code
skip_fault_code:		/* with an error code: 4 instructions */
	addq $8, %rsp
	addq %r10, (%rsp)
	movl $1, %r11d
	iretq
skip_fault:			/* without: 3 */
	addq %r10, (%rsp)
	movl $1, %r11d
	iretq

/* Interrupts: the C function gets the frame's address. */
	.macro ENTRY name, function
	.globl \name
\name:
	push %rax
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	leaq 72(%rsp), %rdi
	cld
	call \function
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %rax
	iretq
	.endm

	ENTRY nmi_entry, pmi_by_nmi
	ENTRY pmi_entry, pmi_by_vector
	ENTRY timer_entry, timer_tick

/* Unexpected faults: entry n of the table pushes n. */
	.globl fault_table
	.balign 16
fault_table:
	.set n, 0
	.rept 32
	.balign 16
	push $n
	jmp fault_common
	.set n, n + 1
	.endr
fault_common:
	pop %rdi
	movq (%rsp), %rsi
	movq 8(%rsp), %rdx
	andq $-16, %rsp
	call fault_report

	.data
	.balign 8
gdt:
	.quad 0
	.quad 0x00cf9b000000ffff	/* CS32 */
	.quad 0x00cf93000000ffff	/* DS32 */
	.quad 0x00af9b000000ffff	/* CS64 */
	.quad 0x00cff3000000ffff	/* UDS */
	.quad 0x00affb000000ffff	/* UCS */
gdt_tss:
	.quad 0x0000890000000067
	.quad 0
gdt_end:
gdt_pointer:
	.word gdt_end - gdt - 1
	.long gdt
start_info:
	.long 0
	.balign 16
tss:
	.long 0
	.quad trap_stack_top		/* RSP0 */
	.zero 92

	.bss
	.balign 4096
pml4:
	.zero 4096
pdpt:
	.zero 4096
page_dirs:
	.zero 4 * 4096
	.zero 16384
stack_top:
	.zero 16384
ap_stack_top:
	.zero 16384
trap_stack_top:
