/*
 * Exception vectors.  A payload uses SP_EL0: it runs at EL0, or at EL1t with
 * system privilege.  SP_EL1 is then the top of its LWP's kernel stack, and the
 * trap frame goes there.  The kernel itself runs at EL1h.
 * Arm ARM (DDI 0487), "Exception vectors".
 */
#include "arch/arm64/asm.h"
#include "arch/arm64/trap/pairs.inc"
#include "kern/platform/errno.h"

	.text

	/* Save the general registers except x0, x1 and x30. */
	.macro	save_general
	pairs	stp, x, 8, sp, TF_X(0), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \
	    12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
	.endm

	.macro	save_registers
	save_general
	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	mrs	x4, esr_el1
	mrs	x5, far_el1
	stp	x2, x3, [sp, #TF_PC]
	stp	x4, x5, [sp, #TF_ESR]
	.endm

	/*
	 * Complete the frame of a system call or interrupt.  \esr goes to
	 * tf_esr; FAR_EL1 means nothing here, so tf_far is 0.
	 */
	.macro	save_payload esr
	save_general
	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	mrs	x4, sp_el0
	stp	x2, x3, [sp, #TF_PC]
	stp	\esr, xzr, [sp, #TF_ESR]
	stp	x30, x4, [sp, #TF_X(30)]
	add	x29, sp, #TF_FRAME
	mov	x0, sp
	.endm

	/* Load pc, PSTATE, and x2 to x17, which functions may change. */
	.macro	restore_scratch
	ldp	x2, x3, [sp, #TF_PC]
	msr	elr_el1, x2
	msr	spsr_el1, x3
	pairs	ldp, x, 8, sp, TF_X(0), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \
	    12, 13, 14, 15, 16, 17
	.endm

	.macro	restore_registers
	restore_scratch
	pairs	ldp, x, 8, sp, TF_X(0), 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
	.endm

	/* From a payload.  The kernel stack is empty. */
	.macro	from_payload handler
	.balign	128
	sub	sp, sp, #TF_BYTES
	stp	x0, x1, [sp, #TF_X(0)]
	adr	x1, \handler
	b	payload_entry
	.endm

	.macro	from_payload_irq
	.balign	128
	sub	sp, sp, #TF_BYTES
	stp	x0, x1, [sp, #TF_X(0)]
	b	irq_entry
	.endm

	/* Synchronous exceptions.  System calls have a faster entry. */
	.macro	from_payload_sync
	.balign	128
	sub	sp, sp, #TF_BYTES
	stp	x0, x1, [sp, #TF_X(0)]
	mrs	x1, esr_el1
	ubfx	x0, x1, #EC_SHIFT, #EC_BITS
	cmp	x0, #EC_SVC
	b.eq	svc_entry
	adr	x1, arm64_trap_sync
	b	payload_entry
	.endm

	/* From the kernel.  Check the stack pointer before using it. */
	.macro	from_kernel handler
	.balign	128
	msr	tpidrro_el0, x0
	sub	sp, sp, #TF_BYTES
	mov	x0, sp
	eor	x0, x0, #KSTACK_BASE
	tbnz	x0, #KSTACK_SHIFT, overflow
	tst	x0, #(KSTACK_BASE | 15)	/* no kernel stack, or misaligned */
	b.ne	overflow
	mrs	x0, tpidrro_el0
	stp	x0, x1, [sp, #TF_X(0)]
	adr	x1, \handler
	b	kernel_entry
	.endm

	.macro	never
	.balign	128
	sub	sp, sp, #TF_BYTES
	stp	x0, x1, [sp, #TF_X(0)]
	adr	x1, arm64_trap_bad
	b	payload_entry
	.endm

	.balign	2048
	.globl	arm64_vectors
arm64_vectors:
	from_payload_sync			/* EL1t */
	from_payload_irq
	never
	from_payload arm64_trap_bad
	from_kernel arm64_trap_sync		/* EL1h */
	from_kernel arm64_trap_irq
	from_kernel arm64_trap_bad
	from_kernel arm64_trap_bad
	from_payload_sync			/* EL0 */
	from_payload_irq
	never
	from_payload arm64_trap_bad
	never					/* EL0, AArch32: not offered */
	never
	never
	never
	.balign	128

/*
 * For system calls and interrupts, kernel_lock(), syscall_find(), lwp_self()
 * and kernel_unlock() are done in assembly.  That takes fewer instructions than
 * C needs to save registers around the calls.
 *
 * The trap frame is complete, for fork, signals and reports.  The return does
 * not load the callee-saved registers, which still have the payload's values.
 * A call that changes them in the frame returns EJUSTRETURN, and then all are
 * loaded.
 */
	.macro	lock_kernel wait
	adrp	x1, klock
	add	x1, x1, #:lo12:klock
	mov	w2, #1
1:	ldaxrb	w3, [x1]
	cbnz	w3, \wait
	stxrb	w3, w2, [x1]
	cbnz	w3, 1b
	.endm

	/* Release the kernel lock.  Go to \first if the LWP has an AST. */
	.macro	unlock_kernel first
	mrs	x1, tpidr_el1
	ldr	x1, [x1, #C_LWP]
	ldr	w1, [x1, #L_AST]
	cbnz	w1, \first
	adrp	x1, klock
	add	x1, x1, #:lo12:klock
	stlrb	wzr, [x1]
	.endm

svc_entry:
	save_payload x1				/* ESR_EL1 */
	lock_kernel svc_wait
svc_find:
	adrp	x2, syscall_linux
	add	x2, x2, #:lo12:syscall_linux
	cmp	w8, #SVC_NLINUX
	b.hs	svc_find_private
1:	ldr	x2, [x2, w8, uxtw #3]
2:	blr	x2
	unlock_kernel svc_trap_return
	cmn	x0, #EJUSTRETURN
	b.eq	user_return
	ldr	x1, [sp, #TF_X(1)]
	b	return_kept

svc_find_private:
	adrp	x2, syscall_private
	add	x2, x2, #:lo12:syscall_private
	sub	w8, w8, #SVC_PRIVATE
	cmp	w8, #SVC_NPRIVATE
	b.lo	1b
	adrp	x2, syscall_unknown
	add	x2, x2, #:lo12:syscall_unknown
	b	2b

svc_wait:
	bl	kernel_lock_wait
	mov	x0, sp
	ldr	w8, [sp, #TF_X(8)]
	b	svc_find

svc_trap_return:
	cmn	x0, #EJUSTRETURN
	b.eq	1f
	str	x0, [sp, #TF_X(0)]
1:	mov	x0, sp
	bl	trap_return
	b	user_return

irq_entry:
	save_payload xzr
	lock_kernel irq_wait
irq_dispatch:
	adrp	x1, gic_dispatch
	ldr	x1, [x1, #:lo12:gic_dispatch]
	blr	x1
	unlock_kernel irq_trap_return
1:	ldp	x0, x1, [sp, #TF_X(0)]
return_kept:
	ldp	x30, x2, [sp, #TF_X(30)]
	msr	sp_el0, x2
	restore_scratch
	ldr	x18, [sp, #TF_X(18)]
	ldr	x29, [sp, #TF_X(29)]
	add	sp, sp, #TF_BYTES
	eret

irq_trap_return:
	mov	x0, sp
	bl	trap_return
	b	1b

irq_wait:
	bl	kernel_lock_wait
	b	irq_dispatch

payload_entry:
	save_registers
	mrs	x0, sp_el0
	stp	x30, x0, [sp, #TF_X(30)]
	add	x29, sp, #TF_FRAME
	mov	x0, sp
	blr	x1
	b	user_return

/* Return to a payload with the trap frame x0, at the top of its stack. */
	.globl	arm64_user_return
arm64_user_return:
	mov	sp, x0
user_return:
	ldp	x30, x1, [sp, #TF_X(30)]
	msr	sp_el0, x1
	restore_registers
	ldp	x0, x1, [sp, #TF_X(0)]
	add	sp, sp, #TF_BYTES
	eret

kernel_entry:
	msr	tpidrro_el0, xzr		/* EL0 can read this register */
	save_registers
	add	x0, sp, #TF_BYTES
	stp	x30, x0, [sp, #TF_X(30)]
	stp	x29, x2, [sp, #TF_FRAME]	/* x2: ELR_EL1 */
	add	x29, sp, #TF_FRAME
	mov	x0, sp
	blr	x1
	restore_registers
	ldr	x30, [sp, #TF_X(30)]
	ldp	x0, x1, [sp, #TF_X(0)]
	add	sp, sp, #TF_BYTES
	eret

/* sp is in a guard or no stack: report it on the emergency stack. */
overflow:
	msr	tpidr_el0, x1			/* this CPU stops here anyway */
	mov	x1, sp
	mrs	x0, tpidr_el1
	ldr	x0, [x0, #AC_EMERGENCY]
	mov	sp, x0
	sub	sp, sp, #TF_BYTES
	add	x0, x1, #TF_BYTES
	stp	x30, x0, [sp, #TF_X(30)]
	mrs	x0, tpidrro_el0
	mrs	x1, tpidr_el0
	stp	x0, x1, [sp, #TF_X(0)]
	save_registers
	stp	x29, x2, [sp, #TF_FRAME]
	add	x29, sp, #TF_FRAME
	mov	x0, sp
	bl	arm64_trap_overflow
