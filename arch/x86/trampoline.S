/*
 * The code where another CPU starts, in real mode.  smp.c copies it to a page
 * below 1 MiB, which is the segment in %cs.  Before the start, smp.c writes the
 * page tables, the stack and the function to call into that page.
 *
 * Intel SDM vol. 3A, "MP Initialization Protocol Algorithm", "Initializing
 * IA-32e Mode".
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
	lgdtl	HERE(gdtr)
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
arg_root:	.quad 0
arg_efer:	.quad 0
arg_stack:	.quad 0
arg_cpu:	.quad 0
arg_main:	.quad 0
x86_trampoline_end:
