/*
 * The ways into the kernel and back.
 *
 * A payload at system privilege runs at ring 0 with a red zone below its
 * stack pointer, so no vector may use the stack it finds.  An interrupt's
 * frame goes where the LWP's belongs, to the top of its kernel stack: the
 * kernel lets interrupts in nowhere but where it idles, which needs none.
 * Exceptions switch to IST_TRAP, and from there the frame moves on, to the
 * LWP's or, if the kernel was interrupted, below what the kernel had.  GS is
 * the kernel's exactly while the kernel runs.
 *
 * It was a payload if it ran at ring 3, or its code or its stack is in the
 * lower half; the kernel has both in the upper one.
 * Intel SDM vol. 3A, "64-Bit Mode Stack Frame"; vol. 2B, "SYSCALL", "SYSRET".
 */
#include "arch/x86/asm.h"
#include "arch/x86/mm/smap.inc"

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

	/* As struct trapframe has them; \rax and \rdx may lie in memory. */
	.macro	push_general rax=%rax, rdx=%rdx
	push	%r9
	push	%r8
	push	%r10
	push	\rdx
	push	%rsi
	push	%rdi
	push	%rcx
	push	\rax
	push	%r11
	push	%rbx
	push	%rbp
	push	%r15
	push	%r14
	push	%r13
	push	%r12
	.endm

	.macro	pop_general
	pop	%r12
	pop	%r13
	pop	%r14
	pop	%r15
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%rax
	pop	%rcx
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%r10
	pop	%r8
	pop	%r9
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
	push_general rax=F_RAX(%rdx), rdx=F_RDX(%rdx)
	cld
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
	.if	vec < NEXCEPTION
	jmp	trap
	.else
	jmp	interrupt
	.endif
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
	cmpq	$VEC_DB, F_VECTOR(%rdx)
	je	ask_gs
	mov	F_RSP(%rdx), %rax
	test	%rax, %rax
	jns	ask_gs

from_kernel:
	/* A stack that cannot hold the frame is no stack. */
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

/*
 * The kernel's code with GS of a payload, or on a stack of the lower half.
 * Either a payload at system privilege came there, or the kernel has lost its
 * stack, or a debug exception came between an entry and its SWAPGS.  MOV SS
 * delays one to the first instruction of an entry.
 * Intel SDM vol. 3A, "Masking Exceptions and Interrupts When Switching Stacks".
 */
ask_gs:
	push	%rcx
	mov	$MSR_GS_BASE, %ecx
	rdmsr
	test	%edx, %edx
	pop	%rcx
	mov	%rsp, %rdx
	mov	F_RSP(%rdx), %rax
	js	from_kernel

from_payload:
	swapgs
	mov	%gs:XC_FRAME_END, %rsp
	copy_frame
	user_access clac /* interrupts leave RFLAGS.AC, which lifts SMAP */
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	call	x86_trap_payload
	jmp	to_payload

/* The overflow interrupt, which has a way of its own, and the others. */
	.macro	interrupt_entry function
	push_general
	cld
	testb	$3, TF_CS(%rsp)
	jz	from_ring0_\function
interrupt_\function:
	swapgs
	user_access clac
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	call	\function
	jmp	to_payload
from_ring0_\function:
	cmpq	$0, TF_RIP(%rsp)
	jge	interrupt_\function
	cmpq	$0, TF_RSP(%rsp)
	jge	interrupt_\function
	jmp	from_idle
	.endm

	.balign	16
	.globl	x86_pmi_entry
x86_pmi_entry:
	push	$0
	push	$VEC_PMI
	interrupt_entry x86_trap_pmi

	.balign	16
interrupt:
	interrupt_entry x86_trap_interrupt

/* The idle loop goes on on its own stack. */
from_idle:
	mov	%rsp, %rbx
	mov	TF_RSP(%rsp), %rsp
	and	$-16, %rsp
	push	TF_RIP(%rbx)
	push	%rbp
	mov	%rsp, %rbp
	mov	%rbx, %rdi
	call	x86_trap_idle
	mov	%rbx, %rsp
	pop_general
	add	$16, %rsp
	iretq

/* Back to a payload, %rdi = its trap frame. */
	.globl	x86_user_return
x86_user_return:
	mov	%rdi, %rsp
to_payload:
	pop_general
	add	$16, %rsp
	swapgs
	iretq

/*
 * An NMI.  Whose code it struck tells whose registers these are: the kernel's
 * last instructions have the payload's stack already.  A payload's goes the
 * way of its interrupts: with the frame off this stack the next may come, and
 * it is by IRET, to the next instruction, that it may.
 * Intel SDM vol. 3A, "Handling Multiple NMIs".
 */
	.balign	16
	.globl	x86_nmi_entry
x86_nmi_entry:
	push	$0
	push	$VEC_NMI
	push	%rax
	push	%rdx
	mov	%rsp, %rdx
	testb	$3, F_CS(%rdx)
	jnz	2f
	cmpq	$0, F_RIP(%rdx)
	jl	nmi_in_kernel
2:	swapgs
	mov	%gs:XC_FRAME_END, %rsp
	copy_frame
	mov	%rsp, %rdi
	push	$SEL_KDATA
	push	%rdi
	pushfq
	push	$SEL_KCODE
	push	$3f
	iretq
3:	user_access clac
	xor	%ebp, %ebp
	call	x86_trap_nmi
	jmp	to_payload

/* The kernel's stack pointer is in a guard, or nowhere. */
bad_stack:
	mov	%gs:XC_DF_STACK, %rsp
	copy_frame
	mov	%rsp, %rdi
	call	x86_trap_overflow

/*
 * System calls.  The payload's stack is not used, its %rcx and %r11 are the
 * CPU's to overwrite.  Their places in the frame are left as they are, which
 * is with what the LWP had in them once; so are those of the selectors, which
 * never change.
 */
	.balign	16
	.globl	x86_syscall_entry
x86_syscall_entry:
	swapgs
	mov	%rsp, %gs:XC_USER_RSP
	mov	%gs:XC_FRAME, %rsp
	mov	%rcx, TF_RIP(%rsp)
	mov	%gs:XC_USER_RSP, %rcx
	mov	%r11, TF_RFLAGS(%rsp)
	mov	%rcx, TF_RSP(%rsp)
	mov	%rax, TF_ERR(%rsp)
	movq	$VEC_SYSCALL, TF_VECTOR(%rsp)
	mov	%rax, TF_RAX(%rsp)
	mov	%rdi, TF_RDI(%rsp)
	mov	%rsi, TF_RSI(%rsp)
	mov	%rdx, TF_RDX(%rsp)
	mov	%r10, TF_R10(%rsp)
	mov	%r8, TF_R8(%rsp)
	mov	%r9, TF_R9(%rsp)
	/* For fork and signals; C keeps them. */
	mov	%rbx, TF_RBX(%rsp)
	mov	%rbp, TF_RBP(%rsp)
	mov	%r12, TF_R12(%rsp)
	mov	%r13, TF_R13(%rsp)
	mov	%r14, TF_R14(%rsp)
	mov	%r15, TF_R15(%rsp)
	mov	%rsp, %rdi
	xor	%ebp, %ebp
	call	x86_trap_syscall
	/*
	 * SYSRET goes to ring 3 only, and not to a frame that was made for
	 * another place: it takes %rcx and %r11, and C has the others.  At an
	 * address that is not canonical it would fault at ring 0 with the
	 * payload's stack: the last page below those is never mapped, so that
	 * no SYSCALL ends there (USER_TOP).
	 * Intel SDM vol. 2B, "SYSRET"; AMD APM vol. 3 (24594), "SYSRET".
	 */
	cmpq	$VEC_SYSCALL, TF_VECTOR(%rsp)
	jne	to_payload
	cmpq	$SEL_UCODE, TF_CS(%rsp)
	jne	to_payload
	mov	TF_RIP(%rsp), %rcx
	mov	TF_RFLAGS(%rsp), %r11
	mov	TF_RBP(%rsp), %rbp
	mov	TF_RAX(%rsp), %rax
	mov	TF_RDI(%rsp), %rdi
	mov	TF_RSI(%rsp), %rsi
	mov	TF_RDX(%rsp), %rdx
	mov	TF_R10(%rsp), %r10
	mov	TF_R8(%rsp), %r8
	mov	TF_R9(%rsp), %r9
	mov	TF_RSP(%rsp), %rsp
	swapgs
	sysretq

/*
 * What strikes anywhere, entry and exit of the above included: GS itself
 * tells whose it is, since no payload can give it an upper address.  All but
 * an overflow's NMI ends the run; that goes back to where it struck, having
 * touched no more than its own stack.  Nothing on its way faults, so that no
 * other IRET lets the next one in on that stack.
 */
	.macro	anywhere name, vector, has_error
	.balign	16
	.globl	\name
\name:
	.ifeq	\has_error
	push	$0
	.endif
	push	$\vector
	push_general
	jmp	anywhere
	.endm

nmi_in_kernel:
	pop	%rdx
	pop	%rax
	push_general
	jmp	anywhere

	anywhere x86_df_entry, VEC_DF, 1
	anywhere x86_mc_entry, VEC_MC, 0

anywhere:
	cld
	xor	%ebx, %ebx
	mov	$MSR_GS_BASE, %ecx
	rdmsr
	test	%edx, %edx
	js	1f
	swapgs
	inc	%ebx
	jmp	2f
	/* As many: what an overflow's set counts of its NMI is a constant. */
1:	nop
	nop
	nop
2:	push	TF_RIP(%rsp)
	push	%rbp
	mov	%rsp, %rbp
	lea	16(%rsp), %rdi
	call	x86_trap_anywhere
	add	$16, %rsp
	test	%ebx, %ebx
	jz	3f
	swapgs
3:	pop_general
	add	$16, %rsp
	iretq

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
