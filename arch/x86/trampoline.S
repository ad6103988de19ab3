/*
 * The code where another CPU starts, in real mode.  smp.c copies it to a page
 * below 1 MiB, which is the segment in %cs.  Before the start, smp.c writes the
 * page tables, the stack and the function to call into that page.
 *
 * Intel SDM vol. 3A, "MP Initialization Protocol Algorithm", "Initializing
 * IA-32e Mode"; vol. 2A, "CPUID" (leaf 0BH: EDX is the x2APIC id).
 */
#include "arch/x86/asm.h"

#define HERE(sym) ((sym) - x86_trampoline + TRAMPOLINE_PA)

	.section .rodata
	.balign	16
	.globl	x86_trampoline, x86_trampoline_end, x86_trampoline_args
	.code16
x86_trampoline:
	cli
	cld
	xor	%eax, %eax
	mov	%ax, %ds

	/* Another CPU's STARTUP may have come to this one: smp.c. */
	mov	HERE(arg_only), %esi
	cmp	$ANY_CPU, %esi
	je	1f
	mov	$0xb, %eax
	xor	%ecx, %ecx
	cpuid
	cmp	%esi, %edx
	jne	not_this_cpu
1:	lgdtl	HERE(gdtr)
	mov	$CR0_PE | CR0_ET | CR0_NE, %eax
	mov	%eax, %cr0
	ljmpl	$SEL_CODE32, $HERE(protected)

	.code32
protected:
	mov	$SEL_KDATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	$CR4_PAE, %eax
	mov	%eax, %cr4
	mov	HERE(arg_root), %eax
	mov	%eax, %cr3
	mov	$MSR_EFER, %ecx
	mov	HERE(arg_efer), %eax
	xor	%edx, %edx
	wrmsr
	mov	$CR0_PE | CR0_ET | CR0_NE | CR0_WP | CR0_PG, %eax
	mov	%eax, %cr0
	ljmp	$SEL_KCODE, $HERE(long_mode)

	.code64
long_mode:
	mov	HERE(arg_stack), %rsp
	mov	HERE(arg_cpu), %rdi
	xor	%ebp, %ebp
	mov	HERE(arg_main), %rax
	call	*%rax

	/* Wait for INIT.  An NMI returns here. */
	.code16
not_this_cpu:
	mov	$TRAMPOLINE_PA + 0x1000, %esp
	lidtl	HERE(idtr)
1:	hlt
	jmp	1b
nmi:	iret
idt:	.rept	3			/* the third entry is the NMI's */
	.word	nmi - x86_trampoline, TRAMPOLINE_PA / 16
	.endr
idtr:	.word	. - idt - 1
	.long	HERE(idt)

	.balign	8
gdt:	.quad	0
	.quad	0x00af9b000000ffff	/* SEL_KCODE */
	.quad	0x00cf93000000ffff	/* SEL_KDATA */
	.quad	0x00cf9b000000ffff	/* SEL_CODE32 */
gdtr:	.word	. - gdt - 1
	.long	HERE(gdt)

	/* struct trampoline_args */
	.balign	8
x86_trampoline_args:
arg_only:	.quad 0
arg_root:	.quad 0
arg_efer:	.quad 0
arg_stack:	.quad 0
arg_cpu:	.quad 0
arg_main:	.quad 0
x86_trampoline_end:
