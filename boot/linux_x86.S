/*
 * The start of the flat x86-64 kernel.  It has the kernel's header.  Then come
 * the 32-bit and 64-bit entries of the Linux boot protocol.  %esi or %rsi has
 * the physical address of struct boot_params.  A loader may put the image at
 * any page.  So the entries move it to the next multiple of 2 MiB first.
 * init_size in boot/linux_setup.S asks loaders to leave that memory free.
 *
 * Linux, Documentation/arch/x86/boot.rst, "32-bit Boot Protocol", "64-bit Boot
 * Protocol", "The kernel_info".
 */
#include "arch/x86/asm.h"

#define OFFSET(sym)  ((sym) - IMAGE_BASE)
#define IMAGE_ALIGN  0x200000
#define BP_SCRATCH   0x1e4 /* 4 bytes that the kernel may use as a stack */
#define ENTRY64      0x200 /* fixed by the protocol */

	.section .head, "ax"
	.code32
head:
	jmp	linux32
	.org	head + 8
	/* scripts/build/mkefi and boot/efi/efi_x86.c read this. */
	.ascii	"BARECPC\0"
	.quad	__entry_offset
	.quad	__kern_bytes
	/* Offset 32: kernel_info_offset. */
	.ascii	"LToP"
	.long	16			/* size, size_total */
	.long	16
	.long	0			/* setup_type_max: no indirect data */

	.org	head + ENTRY64
	.code64
	cli
	cld
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %r15
	mov	%rsi, %r12
	lea	head(%rip), %rsi
	lea	IMAGE_ALIGN - 1(%rsi), %rdi
	and	$-IMAGE_ALIGN, %rdi
	lea	OFFSET(x86_start64)(%rdi), %rax
	cmp	%rsi, %rdi
	je	1f
	/* Copy from the end: the two places may overlap. */
	mov	$__file_bytes, %ecx
	lea	-8(%rsi, %rcx), %rsi
	lea	-8(%rdi, %rcx), %rdi
	shr	$3, %ecx
	std
	rep movsq
	cld
1:	mov	%r12, %rdi
	jmp	*%rax

	.code32
linux32:
	cli
	cld
	lea	BP_SCRATCH + 4(%esi), %esp
	call	1f
1:	pop	%ebp
	sub	$(1b - head), %ebp
	mov	%esi, %ebx
	lea	IMAGE_ALIGN - 1(%ebp), %edi
	and	$-IMAGE_ALIGN, %edi
	mov	%edi, %esp		/* no stack from here on */
	rdtsc
	cmp	%ebp, %edi
	je	2f
	mov	$__file_bytes, %ecx
	lea	-4(%ebp, %ecx), %esi
	lea	-4(%edi, %ecx), %edi
	shr	$2, %ecx
	std
	rep movsl
	cld
2:	mov	%esp, %ebp
	mov	%eax, %esi
	mov	%edx, %edi
	lea	OFFSET(x86_enter_long)(%ebp), %eax
	jmp	*%eax

	.section .note.GNU-stack, "", @progbits
