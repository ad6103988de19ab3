/*
 * Functions with instructions that may fault.  Each returns 0, or the errno of
 * its fixup after a fault.
 */
#include "arch/x86/asm.h"
#include "arch/x86/mm/smap.inc"

#define EIO          5
#define EFAULT       14
#define ENAMETOOLONG 36
#define PAGE         4096

	/* After a fault at \insn, continue at \resume. */
	.macro	fixup insn, resume
	.pushsection .fixup_table, "a"
	.long	\insn - ., \resume - .
	.popsection
	.endm

	.text

/*
 * int arch_copyin(void *dst, uintptr_t uva, size_t len)
 * int arch_copyout(uintptr_t uva, const void *src, size_t len)
 */
	.globl	arch_copyin, arch_copyout
arch_copyin:
arch_copyout:
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

/*
 * int arch_copyinstr(char *dst, uintptr_t uva, size_t max)
 *
 * Copies eight bytes at a time within a page, because the next page may be
 * absent.  A word has a zero byte if ((word - 0x0101...) & ~word) has bit 7 of
 * any byte.
 */
	.globl	arch_copyinstr
arch_copyinstr:
	user_access stac
	movabs	$-0x0101010101010101, %r9
	movabs	$0x8080808080808080, %r10
1:	mov	%rsi, %rcx
	or	$-PAGE, %rcx
	neg	%rcx
	cmp	%rdx, %rcx
	cmova	%rdx, %rcx
	sub	%rcx, %rdx
	sub	$8, %rcx
	jb	3f
2:	mov	(%rsi), %rax
	mov	%rax, (%rdi)
	lea	(%rax, %r9), %r8
	not	%rax
	and	%r8, %rax
	test	%r10, %rax
	jnz	6f
	add	$8, %rsi
	add	$8, %rdi
	sub	$8, %rcx
	jae	2b
3:	add	$8, %rcx
	jz	5f
4:	movb	(%rsi), %al
	movb	%al, (%rdi)
	inc	%rsi
	inc	%rdi
	test	%al, %al
	jz	6f
	dec	%rcx
	jnz	4b
5:	test	%rdx, %rdx
	jnz	1b
	user_access clac
	mov	$ENAMETOOLONG, %eax
	ret
6:	user_access clac
	xor	%eax, %eax
	ret
7:	user_access clac
	mov	$EFAULT, %eax
	ret
	fixup	2b, 7b
	fixup	4b, 7b

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
