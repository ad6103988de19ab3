/*
 * Copies between kernel and payload, and other instructions that may fault.
 * User memory is accessed with the rights of EL0 (ldtr, sttr).  The pages of a
 * payload at system privilege are not EL0's, so plain accesses are used there.
 * Arm ARM (DDI 0487), "LDTR", "STTR".
 */
#include "arch/arm64/asm.h"
#include "arch/arm64/trap/pairs.inc"

#define EFAULT       14
#define ENAMETOOLONG 36
#define PAGE         4096

	.text

	/* If the next instruction faults, continue at \to. */
	.macro	may_fault to
	.pushsection .fixup_table, "a"
	.long	8000f - .
	.long	\to - .
	.popsection
8000:
	.endm

fault:
	mov	x0, #EFAULT
	ret

	/* Copies: two words at a time, then one word, then bytes. */

	/* int NAME(void *dst, uintptr_t src, size_t len) */
	.macro	copy_in name, load, loadb
	.globl	\name
\name:
	subs	x2, x2, #16
	b.lo	2f
1:	may_fault fault
	\load	x3, [x1]
	may_fault fault
	\load	x4, [x1, #8]
	add	x1, x1, #16
	stp	x3, x4, [x0], #16
	subs	x2, x2, #16
	b.hs	1b
2:	tbz	x2, #3, 3f
	may_fault fault
	\load	x3, [x1]
	add	x1, x1, #8
	str	x3, [x0], #8
3:	ands	x2, x2, #7
	b.eq	5f
4:	may_fault fault
	\loadb	w3, [x1]
	add	x1, x1, #1
	strb	w3, [x0], #1
	subs	x2, x2, #1
	b.ne	4b
5:	mov	x0, #0
	ret
	.endm

	/* int NAME(uintptr_t dst, const void *src, size_t len) */
	.macro	copy_out name, store, storeb
	.globl	\name
\name:
	subs	x2, x2, #16
	b.lo	2f
1:	ldp	x3, x4, [x1], #16
	may_fault fault
	\store	x3, [x0]
	may_fault fault
	\store	x4, [x0, #8]
	add	x0, x0, #16
	subs	x2, x2, #16
	b.hs	1b
2:	tbz	x2, #3, 3f
	ldr	x3, [x1], #8
	may_fault fault
	\store	x3, [x0]
	add	x0, x0, #8
3:	ands	x2, x2, #7
	b.eq	5f
4:	ldrb	w3, [x1], #1
	may_fault fault
	\storeb	w3, [x0]
	add	x0, x0, #1
	subs	x2, x2, #1
	b.ne	4b
5:	mov	x0, #0
	ret
	.endm

	/*
	 * int NAME(char *dst, uintptr_t src, size_t max)
	 *
	 * Copies eight bytes at a time while max allows it and they are in one
	 * page, because the next page may be absent.  A word x has a zero byte
	 * if (x - 0x01..01) & ~x & 0x80..80 is not 0.
	 */
	.macro	copy_string name, load, loadb
	.globl	\name
\name:
	mov	x4, #0x0101010101010101
1:	and	x3, x1, #(PAGE - 1)
	cmp	x3, #(PAGE - 8)
	ccmp	x2, #8, #0, ls
	b.lo	2f
	may_fault fault
	\load	x3, [x1]
	add	x1, x1, #8
	str	x3, [x0], #8
	sub	x2, x2, #8
	sub	x5, x3, x4
	bic	x5, x5, x3
	tst	x5, #0x8080808080808080
	b.eq	1b
	b	3f
2:	subs	x2, x2, #1
	b.lo	4f
	may_fault fault
	\loadb	w3, [x1]
	add	x1, x1, #1
	strb	w3, [x0], #1
	cbnz	w3, 1b
3:	mov	x0, #0
	ret
4:	mov	x0, #ENAMETOOLONG
	ret
	.endm

	copy_in arm64_copyin_user, ldtr, ldtrb
	copy_in arm64_copyin_system, ldr, ldrb
	copy_out arm64_copyout_user, sttr, sttrb
	copy_out arm64_copyout_system, str, strb
	copy_string arm64_copyinstr_user, ldtr, ldtrb
	copy_string arm64_copyinstr_system, ldr, ldrb

	/* Set PSTATE.PAN, if the CPU has it.  Old assemblers do not know it. */
	.macro	set_pan value
	adrp	x3, arm64_has_pan
	ldrb	w3, [x3, #:lo12:arm64_has_pan]
	cbz	w3, 8f
	mov	x3, #\value
	msr	S3_0_C4_C2_3, x3
8:
	.endm

/* int arm64_try(void (*fn)(void *), void *arg) */
	.globl	arm64_try
arm64_try:
	stp	x29, x30, [sp, #-96]!
	mov	x29, sp
	pairs	stp, x, 8, sp, -136, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
	mrs	x2, tpidr_el1
	ldr	x2, [x2, #C_ARCH]
	mov	x3, sp
	str	x3, [x2, #AC_TRY]
	mov	x2, x0
	mov	x0, x1
	set_pan	0
	blr	x2
	mov	x0, #0
1:	set_pan	PSTATE_PAN
	mrs	x2, tpidr_el1
	ldr	x2, [x2, #C_ARCH]
	str	xzr, [x2, #AC_TRY]
	pairs	ldp, x, 8, sp, -136, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
	ldp	x29, x30, [sp], #96
	ret

/* trap.c continues here after a fault in fn. */
	.globl	arm64_try_failed
arm64_try_failed:
	mrs	x2, tpidr_el1
	ldr	x2, [x2, #C_ARCH]
	ldr	x3, [x2, #AC_TRY]
	mov	sp, x3
	mov	x0, #EFAULT
	b	1b

/*
 * bool arm64_answers(const volatile uint32_t *reg): false if the read faults,
 * because the address has no device or is not mapped.
 */
	.globl	arm64_answers
arm64_answers:
	may_fault 1f
	ldr	w0, [x0]
	mov	w0, #1
	ret
1:	mov	w0, #0
	ret

/*
 * arm64_hvc(), arm64_smc(): call the hypervisor or the secure monitor and return
 * its answer.  Without one the instruction is undefined, and the result is -1,
 * "not supported".  Registers are as in C: SMC Calling Convention (DEN 0028).
 */
	.globl	arm64_hvc
arm64_hvc:
	may_fault 1f
	hvc	#0
	ret
1:	mov	x0, #-1
	ret

	.globl	arm64_smc
arm64_smc:
	may_fault 1f
	smc	#0
	ret
1:	mov	x0, #-1
	ret
