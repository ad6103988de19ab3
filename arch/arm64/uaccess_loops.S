/*
 * Copies between kernel and payload, and instructions whose fault is
 * expected.  The payload's side is accessed with EL0's rights (ldtr, sttr),
 * or, at system privilege, by plain accesses: its pages are not EL0's.
 */
#define EFAULT       14
#define ENAMETOOLONG 36

	.text

	/* Should the next instruction fault, go on at \to. */
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

	/* int NAME(void *dst, uintptr_t src, size_t len) */
	.macro	copy_in name, load, loadb
	.globl	\name
\name:
	subs	x2, x2, #8
	b.lo	2f
1:	may_fault fault
	\load	x3, [x1]
	add	x1, x1, #8
	str	x3, [x0], #8
	subs	x2, x2, #8
	b.hs	1b
2:	adds	x2, x2, #8
	b.eq	4f
3:	may_fault fault
	\loadb	w3, [x1]
	add	x1, x1, #1
	strb	w3, [x0], #1
	subs	x2, x2, #1
	b.ne	3b
4:	mov	x0, #0
	ret
	.endm

	/* int NAME(uintptr_t dst, const void *src, size_t len) */
	.macro	copy_out name, store, storeb
	.globl	\name
\name:
	subs	x2, x2, #8
	b.lo	2f
1:	ldr	x3, [x1], #8
	may_fault fault
	\store	x3, [x0]
	add	x0, x0, #8
	subs	x2, x2, #8
	b.hs	1b
2:	adds	x2, x2, #8
	b.eq	4f
3:	ldrb	w3, [x1], #1
	may_fault fault
	\storeb	w3, [x0]
	add	x0, x0, #1
	subs	x2, x2, #1
	b.ne	3b
4:	mov	x0, #0
	ret
	.endm

	/* int NAME(char *dst, uintptr_t src, size_t max), max > 0 */
	.macro	copy_string name, loadb
	.globl	\name
\name:
1:	may_fault fault
	\loadb	w3, [x1]
	add	x1, x1, #1
	strb	w3, [x0], #1
	cbz	w3, 2f
	subs	x2, x2, #1
	b.ne	1b
	mov	x0, #ENAMETOOLONG
	ret
2:	mov	x0, #0
	ret
	.endm

	copy_in arm64_copyin_user, ldtr, ldtrb
	copy_in arm64_copyin_system, ldr, ldrb
	copy_out arm64_copyout_user, sttr, sttrb
	copy_out arm64_copyout_system, str, strb
	copy_string arm64_copyinstr_user, ldtrb
	copy_string arm64_copyinstr_system, ldrb

/*
 * void arm64_semihost(uint64_t operation, const void *block): undefined where
 * no debugger or emulator listens, then it returns.
 */
	.globl	arm64_semihost
arm64_semihost:
	may_fault 1f
	hlt	#0xf000
1:	ret

/*
 * uint64_t arm64_hvc(uint64_t function): what a hypervisor's call answers;
 * -1, "not supported", where there is nobody to call.
 */
	.globl	arm64_hvc
arm64_hvc:
	may_fault 1f
	hvc	#0
	ret
1:	mov	x0, #-1
	ret
