/*
 * The ways into the kernel and back.
 *
 * A payload at system privilege runs at ring 0 with a red zone below its
 * stack pointer, so no vector may use the stack it finds: each switches to
 * IST_TRAP, and from there the frame moves on, to the kernel stack of the LWP
 * or, if the kernel was interrupted, below what the kernel had.  GS is the
 * kernel's exactly while the kernel runs.
 *
 * It was a payload if it ran at ring 3, or its code or its stack is in the
 * lower half; the kernel has both in the upper one.
 * Intel SDM vol. 3A, "64-Bit Mode Stack Frame"; vol. 2B, "SYSCALL", "SYSRET".
 */
#include "arch/x86/asm.h"

	/* The frame the CPU pushed, with what a vector's entry adds. */
#define F_RDX    0
#define F_RAX    8
#define F_VECTOR 16
#define F_ERR    24
#define F_RIP    32
#define F_CS     40
#define F_RFLAGS 48
#define F_RSP    56
#define F_SS     64

	.text

	.macro	push_general
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm

	.macro	pop_general
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rax
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
	.endm

	/* A trap frame on this stack, from the one at %rdx. */
	.macro	copy_frame
	push	F_SS(%rdx)
	push	F_RSP(%rdx)
	push	F_RFLAGS(%rdx)
	push	F_CS(%rdx)
	push	F_RIP(%rdx)
	push	F_ERR(%rdx)
	push	F_VECTOR(%rdx)
	push	%rdi
	push	%rsi
	push	F_RDX(%rdx)
	push	%rcx
	push	F_RAX(%rdx)
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push_general
	cld
	.endm

	/* Interrupts do not clear RFLAGS.AC, which would lift SMAP. */
	.macro	close_user
	cmpb	$0, x86_smap(%rip)
	je	9f
	clac
9:
	.endm

	.balign	16
	.globl	x86_vectors
x86_vectors:
	.set	vec, 0
	.rept	256
	.balign	16
	/* Those without an error code get one. */
	.if	(vec != 8) && (vec < 10 || vec > 14) && (vec != 17) && \
		(vec != 21) && (vec != 29) && (vec != 30)
	push	$0
	.endif
	push	$vec
	jmp	trap
	.set	vec, vec + 1
	.endr

	.balign	16
trap:
	push	%rax
	push	%rdx
	mov	%rsp, %rdx
	testb	$3, F_CS(%rdx)
	jnz	from_payload
	cmpq	$0, F_RIP(%rdx)
	jge	from_payload
	mov	F_RSP(%rdx), %rax
	test	%rax, %rax
	jns	from_payload

	/* From the kernel.  A stack that cannot hold the frame is no stack. */
	cmp	$KSTACK_BASE, %rax
	jb	bad_stack
	and	$-16, %rax
	sub	$TF_BYTES + 16, %rax
	test	$1 << KSTACK_SHIFT, %eax
	jnz	bad_stack
	lea	TF_BYTES + 16(%rax), %rsp
	copy_frame
	/* A frame record, for backtraces to go on where this struck. */
	push	TF_RIP(%rsp)
	push	%rbp
	mov	%rsp, %rbp
	lea	16(%rsp), %rdi
	call	x86_trap_kernel
	add	$16, %rsp
	pop_general
	add	$16, %rsp
	iretq

from_payload:
	swapgs
	mov	%gs:XC_KSTACK, %rsp
	copy_frame
	close_user
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	call	x86_trap_payload
	mov	%rsp, %rdi

/* Back to a payload, %rdi = its trap frame. */
	.globl	x86_user_return
x86_user_return:
	mov	%rdi, %rsp
	pop_general
	add	$16, %rsp
	swapgs
	iretq

/* The kernel's stack pointer is in a guard, or nowhere. */
bad_stack:
	mov	%gs:XC_DF_STACK, %rsp
	copy_frame
	mov	%rsp, %rdi
	call	x86_trap_overflow

/*
 * System calls.  The payload's stack is not used, its %rcx and %r11 are the
 * CPU's to overwrite.
 */
	.balign	16
	.globl	x86_syscall_entry
x86_syscall_entry:
	swapgs
	mov	%rsp, %gs:XC_USER_RSP
	mov	%gs:XC_KSTACK, %rsp
	push	%gs:XC_USER_SS
	push	%gs:XC_USER_RSP
	push	%r11
	push	%gs:XC_USER_CS
	push	%rcx
	push	%rax
	push	$VEC_SYSCALL
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	%rax
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push_general
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	call	x86_trap_syscall
	/*
	 * SYSRET goes to ring 3 only, and not to a frame that was made for
	 * another place: it takes %rcx and %r11.
	 */
	mov	%rsp, %rdi
	cmpq	$VEC_SYSCALL, TF_VECTOR(%rsp)
	jne	x86_user_return
	cmpq	$SEL_UCODE, TF_CS(%rsp)
	jne	x86_user_return
	pop_general
	mov	16(%rsp), %rcx		/* rip: in the lower half, by its CS */
	mov	32(%rsp), %r11		/* rflags */
	mov	40(%rsp), %rsp
	swapgs
	sysretq

/*
 * What strikes anywhere, entry and exit of the above included, and ends the
 * run: GS itself tells whose it is, since no payload can give it an upper
 * address.
 */
	.macro	anywhere name, vector, has_error
	.balign	16
	.globl	\name
\name:
	.ifeq	\has_error
	push	$0
	.endif
	push	$\vector
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	%rax
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push_general
	jmp	anywhere
	.endm

	anywhere x86_nmi_entry, VEC_NMI, 0
	anywhere x86_df_entry, VEC_DF, 1
	anywhere x86_mc_entry, VEC_MC, 0

anywhere:
	cld
	mov	$MSR_GS_BASE, %ecx
	rdmsr
	test	%edx, %edx
	js	1f
	swapgs
1:	push	TF_RIP(%rsp)
	push	%rbp
	mov	%rsp, %rbp
	lea	16(%rsp), %rdi
	call	x86_trap_anywhere

/* The selectors of a new descriptor table. */
	.globl	x86_load_segments
x86_load_segments:
	pop	%rdx
	mov	$SEL_KDATA, %eax
	mov	%eax, %ss
	xor	%eax, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %fs
	mov	%eax, %gs
	push	$SEL_KCODE
	push	%rdx
	lretq
