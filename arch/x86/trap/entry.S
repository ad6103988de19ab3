/*
 * Entries into the kernel and returns from it.
 *
 * A payload at system privilege runs at ring 0, with a red zone below its stack
 * pointer.  So no vector may use the stack of the interrupted code:
 *
 * - An interrupt puts its frame at the top of the LWP's kernel stack.  The
 *   kernel enables interrupts only while it idles, when that place is free.
 * - An exception puts its frame on IST_TRAP.  The entry then copies the frame
 *   of a payload to the top of the LWP's kernel stack.  It copies the frame of
 *   the kernel to below the interrupted stack pointer.
 *
 * GS has the kernel's base while the kernel runs, and only then.
 *
 * A frame belongs to a payload if it comes from ring 3, or if its code is in
 * the lower half.  If only its stack is in the lower half, or after a debug
 * exception, the base of GS decides (ask_gs).
 *
 * Intel SDM vol. 3A, "64-Bit Mode Stack Frame"; vol. 2B, "SYSCALL", "SYSRET".
 */
#include "arch/x86/asm.h"
#include "arch/x86/mm/smap.inc"

	/* The frame that the CPU pushes, and what the entry of a vector adds. */
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

	/* In the order of struct trapframe.  \rax and \rdx may be in memory. */
	.macro	push_general rax=%rax, rdx=%rdx
	.irp	r, %r9, %r8, %r10, \rdx, %rsi, %rdi, %rcx, \rax, %r11, %rbx, \
	    %rbp, %r15, %r14, %r13, %r12
	push	\r
	.endr
	.endm

	.macro	pop_general
	.irp	r, %r12, %r13, %r14, %r15, %rbp, %rbx, %r11, %rax, %rcx, %rdi, \
	    %rsi, %rdx, %r10, %r8, %r9
	pop	\r
	.endr
	.endm

	/* Push a trap frame, from the F_ frame at %rdx. */
	.macro	copy_frame
	.irp	at, F_SS, F_RSP, F_RFLAGS, F_CS, F_RIP, F_ERR, F_VECTOR
	push	\at(%rdx)
	.endr
	push_general rax=F_RAX(%rdx), rdx=F_RDX(%rdx)
	cld
	.endm

	.balign	16
	.globl	x86_vectors
x86_vectors:
	.set	vec, 0
	.rept	256
	.balign	16
	/* These vectors have no error code: push one. */
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
	/* Check that the kernel's stack can hold the frame. */
	cmp	$KSTACK_BASE, %rax
	jb	bad_stack
	and	$-16, %rax
	sub	$TF_BYTES + 16, %rax
	test	$1 << KSTACK_SHIFT, %eax
	jnz	bad_stack
	lea	TF_BYTES + 16(%rax), %rsp
	copy_frame
	/* A frame record, so that a backtrace continues in the interrupted code. */
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
 * Kernel code was interrupted, but GS or the stack may be a payload's.  The base
 * of GS decides.  There are three such cases:
 *
 * - A payload at system privilege jumped to a kernel address.
 * - The kernel lost its stack.
 * - A debug exception came between an entry and its SWAPGS.  MOV SS delays a
 *   debug exception to the first instruction of an entry.
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
	user_access clac /* an exception keeps RFLAGS.AC, which opens SMAP */
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	call	x86_trap_payload
	jmp	to_payload

/* The overflow interrupt has an entry of its own; others share one. */
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

/*
 * Handle the interrupt on the stack of the idle loop, which it continues.
 *
 * Interrupts are off in the rest of the kernel.  If one comes all the same, its
 * frame is where the last one was, so there is no way back.  QEMU 7.2 delivers
 * an interrupt twice to a guest of a nested hypervisor: the second is at the
 * first instruction of the first one's entry.
 */
from_idle:
	testl	$RFLAGS_IF, TF_RFLAGS(%rsp)
	jz	interrupts_off
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

/* GS is the payload's if the first interrupt came from one. */
interrupts_off:
	mov	$MSR_GS_BASE, %ecx
	rdmsr
	test	%edx, %edx
	js	1f
	swapgs
1:	xor	%ebp, %ebp
	mov	%rsp, %rdi
	call	x86_trap_uninvited

/* Return to a payload.  %rdi is its trap frame. */
	.globl	x86_user_return
x86_user_return:
	mov	%rdi, %rsp
to_payload:
	pop_general
	add	$16, %rsp
	swapgs
	iretq

/*
 * An NMI.  The address of the interrupted code says whose registers these are.
 * The stack pointer does not, because the last instructions of the kernel
 * already have the payload's.
 *
 * An NMI in a payload is handled like its interrupts.  Its frame moves to the
 * LWP's kernel stack, so that another NMI can use this stack.  The IRET to the
 * next instruction then unblocks NMIs.
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

/* The kernel's stack pointer is in a guard, or not in a stack at all. */
bad_stack:
	mov	%gs:XC_DF_STACK, %rsp
	copy_frame
	mov	%rsp, %rdi
	call	x86_trap_overflow

/*
 * System calls.  The CPU overwrites %rcx and %r11.  So their places in the
 * frame keep old values of the same LWP.  The places of the selectors keep
 * theirs, which never change.
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
	/* Fork and signals need these.  C code preserves them. */
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
	 * SYSRET returns to ring 3 only, and loads %rcx and %r11 itself.  So use
	 * it only if nothing has changed the frame's vector or selector.
	 *
	 * With a non-canonical address it would fault at ring 0, on the payload's
	 * stack.  That cannot happen: the last page below such addresses is never
	 * mapped (USER_TOP), so no SYSCALL is there.
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
 * NMIs in the kernel, double faults and machine checks.  They may come at any
 * instruction, also of the entries and exits above.  The base of GS
 * shows whose it is, because a payload cannot set it to an upper address.
 *
 * Only an NMI returns to the interrupted code.  It uses no stack but its own.
 * Its handler never faults: the IRET of another exception would unblock NMIs
 * while this stack is in use.
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
	/*
	 * The same number of instructions as the other branch.  So a set always
	 * counts the same number for an overflow's NMI.
	 */
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

/* Load the selectors of a new descriptor table. */
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
