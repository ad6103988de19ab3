/*
 * Write and read a signal's frame in place, in user memory.  sigframe.c has
 * struct frame, fpu.c the FXSAVE or XSAVE area, asm.h the offsets.
 *
 * A fault between x86_sigcopy_start and x86_sigcopy_end continues at
 * x86_sigcopy_failed, so this code keeps nothing on the stack.
 *
 * SSE registers copy two words at a time.  Their contents are already in the
 * frame, or are about to be loaded from it.
 */
#include "arch/x86/asm.h"
#include "arch/x86/mm/smap.inc"

#define EFAULT 14

	.text

	.macro	copy_word from, to
	mov	\from, %r11
	mov	%r11, \to
	.endm

	.macro	copy_two from, to
	movups	\from, %xmm0
	movups	%xmm0, \to
	.endm

	/* XSAVE and XRSTOR: all components. */
	.macro	all_components
	mov	$-1, %eax
	mov	%eax, %edx
	.endm

	/* Write the rest of the frame, and make the trap frame enter the handler. */
	.macro	rest_of_frame
	movq	$UC_FLAGS, SF_FLAGS(%rsi)
	movq	$0, SF_FLAGS + 8(%rsi)		/* uc_link */
	copy_two (%r10), SF_STACK(%rsi)
	copy_word 16(%r10), SF_STACK + 16(%rsi)
	copy_two TF_R8(%rdi), SF_R8(%rsi)	/* and r9 */
	copy_word TF_R10(%rdi), SF_R10(%rsi)
	copy_word TF_R11(%rdi), SF_R11(%rsi)
	copy_two TF_R12(%rdi), SF_R12(%rsi)	/* and r13 */
	copy_two TF_R14(%rdi), SF_R14(%rsi)	/* and r15 */
	copy_two TF_RDI(%rdi), SF_RDI(%rsi)	/* and rsi */
	copy_two TF_RBP(%rdi), SF_RBP(%rsi)	/* and rbx */
	copy_word TF_RDX(%rdi), SF_RDX(%rsi)
	copy_two TF_RAX(%rdi), SF_RAX(%rsi)	/* and rcx */
	copy_word TF_RSP(%rdi), SF_RSP(%rsi)
	copy_word TF_RIP(%rdi), SF_RIP(%rsi)
	copy_word TF_RFLAGS(%rdi), SF_RFLAGS(%rsi)
	copy_word TF_CS(%rdi), SF_CS(%rsi)
	mov	TF_SS(%rdi), %r11d
	mov	%r11w, SF_SS(%rsi)
	copy_word TF_ERR(%rdi), SF_ERR(%rsi)
	copy_word TF_VECTOR(%rdi), SF_TRAPNO(%rsi)
	mov	24(%r10), %r11
	mov	%r11, SF_OLDMASK(%rsi)
	mov	%r11, SF_MASK(%rsi)
	copy_word 16(%r9), SF_CR2(%rsi)		/* si_addr */
	mov	%rcx, SF_FPSTATE(%rsi)
	copy_two (%r9), SF_INFO(%rsi)
	copy_two 16(%r9), SF_INFO + 16(%rsi)
	copy_two 32(%r9), SF_INFO + 32(%rsi)
	user_access clac

	/* Set the handler's registers: %al 0 for no vector arguments. */
	mov	SA_HANDLER(%r8), %r8
	movslq	(%r9), %r9			/* si_signo */
	lea	SF_INFO(%rsi), %r10
	lea	SF_FLAGS(%rsi), %r11
	mov	%r8, TF_RIP(%rdi)
	mov	%rsi, TF_RSP(%rdi)
	mov	%r9, TF_RDI(%rdi)
	mov	%r10, TF_RSI(%rdi)
	mov	%r11, TF_RDX(%rdi)
	movq	$0, TF_RAX(%rdi)
	andq	$~(RFLAGS_TF | RFLAGS_DF | RFLAGS_RF), TF_RFLAGS(%rdi)
	.endm

	.globl	x86_sigcopy_start, x86_sigcopy_end, x86_sigcopy_failed
x86_sigcopy_start:

/*
 * int x86_sigcopy_out(struct trapframe *tf, struct frame *frame,
 *     const struct sigframe *sf, void *fpu)
 *
 * First write the frame's first word and the whole FPU area.  They touch every
 * page of the frame, so nothing faults after a register has changed.
 */
	.globl	x86_sigcopy_out
x86_sigcopy_out:
	user_access stac
	mov	SGF_ACT(%rdx), %r8
	mov	SGF_INFO(%rdx), %r9
	mov	SGF_KEPT(%rdx), %r10
	copy_word SA_RESTORER(%r8), (%rsi)

	/*
	 * XSAVE does not write the bytes for software, XCOMP_BV, and the eight
	 * bytes after it.  The last two must be 0 for XRSTOR.  It writes only
	 * the enabled bits of XSTATE_BV.  Intel SDM vol. 1, "Operation of
	 * XSAVE", "Standard Form of XRSTOR".
	 */
	mov	x86_fpu_sw + 16(%rip), %r11	/* the size of the area */
	test	%r11, %r11
	jz	2f
	movq	$0, FPU_XSTATE_BV(%rcx)
	all_components
	xsave64	(%rcx)
	movl	$FPU_MAGIC2, (%rcx, %r11)
	mov	%r11, FPU_SW + 16(%rcx)
	copy_two x86_fpu_sw(%rip), FPU_SW(%rcx)
	pxor	%xmm1, %xmm1
	movups	%xmm1, FPU_XSTATE_BV + 8(%rcx)

	rest_of_frame
	xrstor64 x86_fpu_clean(%rip)
	xor	%eax, %eax
	ret

2:	fxsave64 (%rcx)
	mov	%r11, FPU_SW(%rcx)
	rest_of_frame
	fxrstor64 x86_fpu_clean(%rip)
	xor	%eax, %eax
	ret

/*
 * int x86_sigcopy_in(struct trapframe *tf, const struct frame *frame,
 *     struct sigkept *kept, uint64_t may)
 */
	.globl	x86_sigcopy_in
x86_sigcopy_in:
	user_access stac
	copy_two SF_STACK(%rsi), (%rdx)
	copy_word SF_STACK + 16(%rsi), 16(%rdx)
	copy_word SF_MASK(%rsi), 24(%rdx)
	copy_two SF_R8(%rsi), TF_R8(%rdi)
	copy_word SF_R10(%rsi), TF_R10(%rdi)
	copy_word SF_R11(%rsi), TF_R11(%rdi)
	copy_two SF_R12(%rsi), TF_R12(%rdi)
	copy_two SF_R14(%rsi), TF_R14(%rdi)
	copy_two SF_RDI(%rsi), TF_RDI(%rdi)
	copy_two SF_RBP(%rsi), TF_RBP(%rdi)
	copy_word SF_RDX(%rsi), TF_RDX(%rdi)
	copy_two SF_RAX(%rsi), TF_RAX(%rdi)
	mov	SF_RIP(%rsi), %r9
	mov	SF_RSP(%rsi), %r10
	mov	SF_RFLAGS(%rsi), %r11
	mov	SF_FPSTATE(%rsi), %rsi
	mov	$USER_TOP, %rax
	cmp	%rax, %r9
	jae	x86_sigcopy_failed
	sub	x86_fpu_frame_bytes(%rip), %rax
	cmp	%rax, %rsi
	ja	x86_sigcopy_failed
	/* Take only the flags of `may` from the frame. */
	mov	TF_RFLAGS(%rdi), %r8
	xor	%r8, %r11
	and	%rcx, %r11
	xor	%r8, %r11

	mov	x86_fpu_sw(%rip), %r8
	mov	x86_fpu_sw + 16(%rip), %rcx
	test	%rcx, %rcx
	jz	6f
	all_components
	test	%rsi, %rsi
	jz	5f
	cmp	%r8, FPU_SW(%rsi)
	jne	5f
	cmpl	$FPU_MAGIC2, (%rsi, %rcx)
	jne	5f
	xrstor64 (%rsi)
4:	user_access clac
	mov	%r9, TF_RIP(%rdi)
	mov	%r10, TF_RSP(%rdi)
	mov	%r11, TF_RFLAGS(%rdi)
	/* Return by IRET, because SYSRET would not restore %rcx and %r11. */
	xor	%eax, %eax
	mov	%rax, TF_VECTOR(%rdi)
	mov	%rax, TF_ERR(%rdi)
	ret

	/* No XSAVE area that the kernel wrote: load the FXSAVE part, if any. */
5:	xrstor64 x86_fpu_clean(%rip)
6:	test	%rsi, %rsi
	jz	7f
	fxrstor64 (%rsi)
	jmp	4b
7:	fxrstor64 x86_fpu_clean(%rip)
	jmp	4b

x86_sigcopy_failed:
	user_access clac
	mov	$EFAULT, %eax
	ret
x86_sigcopy_end:
