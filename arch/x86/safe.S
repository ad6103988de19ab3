/*
 * Instructions that may fault, and what becomes of them: each function
 * returns 0, or what its fixup says.
 */
#include "arch/x86/asm.h"
#include "arch/x86/smap.inc"

#define EIO          5
#define EFAULT       14
#define ENAMETOOLONG 36

	/* A fault at \insn goes on at \resume. */
	.macro	fixup insn, resume
	.pushsection .fixup_table, "a"
	.long	\insn - ., \resume - .
	.popsection
	.endm

	.text

/* int x86_copy_user(void *dst, const void *src, size_t len) */
	.globl	x86_copy_user
x86_copy_user:
	user_access stac
	mov	%rdx, %rcx
	shr	$3, %rcx
1:	rep movsq
	mov	%edx, %ecx
	and	$7, %ecx
2:	rep movsb
	user_access clac
	xor	%eax, %eax
	ret
3:	user_access clac
	mov	$EFAULT, %eax
	ret
	fixup	1b, 3b
	fixup	2b, 3b

/* int x86_copy_string(char *dst, const char *src, size_t max) */
	.globl	x86_copy_string
x86_copy_string:
	user_access stac
	mov	$ENAMETOOLONG, %r8d
	test	%rdx, %rdx
	jz	3f
1:	movb	(%rsi), %al
	movb	%al, (%rdi)
	inc	%rsi
	inc	%rdi
	test	%al, %al
	jz	2f
	dec	%rdx
	jnz	1b
	jmp	3f
2:	xor	%r8d, %r8d
3:	user_access clac
	mov	%r8d, %eax
	ret
4:	mov	$EFAULT, %r8d
	jmp	3b
	fixup	1b, 4b

/* int x86_rdmsr_safe(uint32_t msr, uint64_t *v) */
	.globl	x86_rdmsr_safe
x86_rdmsr_safe:
	mov	%edi, %ecx
1:	rdmsr
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, (%rsi)
	xor	%eax, %eax
	ret
2:	mov	$EIO, %eax
	ret
	fixup	1b, 2b

/* int x86_wrmsr_safe(uint32_t msr, uint64_t v) */
	.globl	x86_wrmsr_safe
x86_wrmsr_safe:
	mov	%edi, %ecx
	mov	%esi, %eax
	mov	%rsi, %rdx
	shr	$32, %rdx
1:	wrmsr
	xor	%eax, %eax
	ret
2:	mov	$EIO, %eax
	ret
	fixup	1b, 2b
