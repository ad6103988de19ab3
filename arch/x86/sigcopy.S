/*
 * A signal's frame, written and read in place, in user memory.  struct frame
 * is Linux's (sigframe.c), the area for FXSAVE or XSAVE fpu.c's; offsets in
 * asm.h.  A fault anywhere between x86_sigcopy_start and x86_sigcopy_end goes
 * on at x86_sigcopy_failed, so nothing here has anything on the stack.
 */
#include "arch/x86/asm.h"
#include "arch/x86/smap.inc"

#define EFAULT 14

	.text

	.macro	copy_word from, to
	mov	\from, %rax
	mov	%rax, \to
	.endm

#define OUT(reg) copy_word TF_##reg(%rsi), SF_##reg(%rdi)
#define IN(reg)  copy_word SF_##reg(%rdi), TF_##reg(%rsi)

#define EACH_GENERAL(op)						\
	op(R8); op(R9); op(R10); op(R11); op(R12); op(R13); op(R14);	\
	op(R15); op(RDI); op(RSI); op(RBP); op(RBX); op(RDX); op(RAX); op(RCX)

	.globl	x86_sigcopy_start, x86_sigcopy_end, x86_sigcopy_failed
x86_sigcopy_start:

/*
 * int x86_sigcopy_out(struct frame *to, const struct trapframe *tf,
 *     const struct sigframe *sf, void *fpu)
 */
	.globl	x86_sigcopy_out
x86_sigcopy_out:
	user_access stac
	mov	SGF_ACT(%rdx), %r8
	mov	SGF_INFO(%rdx), %r9
	mov	SGF_KEPT(%rdx), %r10
	copy_word SA_RESTORER(%r8), (%rdi)
	movq	$UC_FLAGS, SF_FLAGS(%rdi)
	movq	$0, SF_FLAGS + 8(%rdi)		/* uc_link */
	copy_word (%r10), SF_STACK(%rdi)
	copy_word 8(%r10), SF_STACK + 8(%rdi)
	copy_word 16(%r10), SF_STACK + 16(%rdi)
	EACH_GENERAL(OUT)
	OUT(RSP)
	OUT(RIP)
	OUT(RFLAGS)
	copy_word TF_CS(%rsi), SF_CS(%rdi)
	mov	TF_SS(%rsi), %eax
	mov	%ax, SF_SS(%rdi)
	copy_word TF_ERR(%rsi), SF_ERR(%rdi)
	copy_word TF_VECTOR(%rsi), SF_TRAPNO(%rdi)
	mov	%rcx, SF_FPSTATE(%rdi)
	mov	24(%r10), %rax
	mov	%rax, SF_OLDMASK(%rdi)
	mov	%rax, SF_MASK(%rdi)
	copy_word (%r9), SF_INFO(%rdi)
	copy_word 8(%r9), SF_INFO + 8(%rdi)
	copy_word 24(%r9), SF_INFO + 24(%rdi)
	copy_word 32(%r9), SF_INFO + 32(%rdi)
	copy_word 40(%r9), SF_INFO + 40(%rdi)
	mov	16(%r9), %rax			/* si_addr */
	mov	%rax, SF_INFO + 16(%rdi)
	mov	%rax, SF_CR2(%rdi)

	/*
	 * XSAVE writes neither the bytes that are software's nor XCOMP_BV and
	 * the eight bytes behind it, which must be 0 to be loaded, and of
	 * XSTATE_BV only what is enabled.  Intel SDM vol. 1, "Operation of
	 * XSAVE", "Standard Form of XRSTOR".
	 */
	mov	x86_fpu_sw(%rip), %r8
	test	%r8, %r8
	jz	2f
	xor	%eax, %eax
	mov	%rax, FPU_XSTATE_BV(%rcx)
	mov	%rax, FPU_XSTATE_BV + 8(%rcx)
	mov	%rax, FPU_XSTATE_BV + 16(%rcx)
	dec	%eax
	mov	%eax, %edx
	xsave64	(%rcx)
	mov	x86_fpu_sw + 8(%rip), %r9
	mov	x86_fpu_sw + 16(%rip), %r10
	mov	%r8, FPU_SW(%rcx)
	mov	%r9, FPU_SW + 8(%rcx)
	mov	%r10, FPU_SW + 16(%rcx)
	movl	$FPU_MAGIC2, (%rcx, %r10)
	/* Nothing faults from here on: the registers may be lost. */
	xrstor64 x86_fpu_clean(%rip)
1:	user_access clac
	xor	%eax, %eax
	ret
2:	fxsave64 (%rcx)
	mov	%r8, FPU_SW(%rcx)
	fxrstor64 x86_fpu_clean(%rip)
	jmp	1b

/*
 * int x86_sigcopy_in(const struct frame *from, struct trapframe *tf,
 *     struct sigcopy_in *in)
 */
	.globl	x86_sigcopy_in
x86_sigcopy_in:
	user_access stac
	copy_word SF_STACK(%rdi), (%rdx)
	copy_word SF_STACK + 8(%rdi), 8(%rdx)
	copy_word SF_STACK + 16(%rdi), 16(%rdx)
	copy_word SF_MASK(%rdi), 24(%rdx)
	copy_word SF_RSP(%rdi), 32(%rdx)
	copy_word SF_RIP(%rdi), 40(%rdx)
	copy_word SF_RFLAGS(%rdi), 48(%rdx)
	copy_word SF_FPSTATE(%rdi), 56(%rdx)
	EACH_GENERAL(IN)
	user_access clac
	xor	%eax, %eax
	ret

/* int x86_sigcopy_fpu(const void *area) */
	.globl	x86_sigcopy_fpu
x86_sigcopy_fpu:
	user_access stac
	mov	x86_fpu_sw(%rip), %rcx
	test	%rcx, %rcx
	jz	5f
	cmp	%rcx, FPU_SW(%rdi)
	jne	4f
	mov	x86_fpu_sw + 16(%rip), %rcx
	cmpl	$FPU_MAGIC2, (%rdi, %rcx)
	jne	4f
	mov	$-1, %eax
	mov	%eax, %edx
	xrstor64 (%rdi)
3:	user_access clac
	xor	%eax, %eax
	ret
	/* Of the program's own making: what FXSAVE knows. */
4:	mov	$-1, %eax
	mov	%eax, %edx
	xrstor64 x86_fpu_clean(%rip)
5:	fxrstor64 (%rdi)
	jmp	3b

x86_sigcopy_failed:
	user_access clac
	mov	$EFAULT, %eax
	ret
x86_sigcopy_end:
