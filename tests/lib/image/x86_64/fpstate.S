/*
 * For tests/image/process/fpstate.c: fill the SIMD registers, make a system
 * call, store the registers.  Intel SDM vol. 1, "Managing State Using the
 * XSAVE Feature Set" (the bits of XCR0) and "Programming with Intel AVX-512"
 * (detection).
 */
	.text

	/* In: rdi load, rsi store, rdx number, rcx a, r8 b. */
	.macro	call_kernel
	push	%rsi
	mov	%rdx, %rax
	mov	%rcx, %rdi
	mov	%r8, %rsi
	syscall
	pop	%rsi
	.endm

	.macro	each_low op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	\n
	.endr
	.endm
	.macro	each_high op
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	\n
	.endr
	.endm
	.macro	each_mask op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	\op	\n
	.endr
	.endm

	.macro	load_x n
	movdqu	16 * \n(%rdi), %xmm\n
	.endm
	.macro	store_x n
	movdqu	%xmm\n, 16 * \n(%rsi)
	.endm
	.macro	load_y n
	vmovdqu	32 * \n(%rdi), %ymm\n
	.endm
	.macro	store_y n
	vmovdqu	%ymm\n, 32 * \n(%rsi)
	.endm
	.macro	load_z n
	vmovdqu64 64 * \n(%rdi), %zmm\n
	.endm
	.macro	store_z n
	vmovdqu64 %zmm\n, 64 * \n(%rsi)
	.endm
	.macro	load_k n
	kmovw	64 * 32 + 2 * \n(%rdi), %k\n
	.endm
	.macro	store_k n
	kmovw	%k\n, 64 * 32 + 2 * \n(%rsi)
	.endm

	.globl	fpstate_base
	.type	fpstate_base, @function
fpstate_base:
	each_low load_x
	call_kernel
	each_low store_x
	ret
	.size	fpstate_base, . - fpstate_base

	/* The widest: YMM0..YMM15 or, at level 2, ZMM0..ZMM31 and K0..K7. */
	.globl	fpstate_wide
	.type	fpstate_wide, @function
fpstate_wide:
	push	%rbx
	push	%rdx
	push	%rcx
	call	level
	pop	%rcx
	pop	%rdx
	pop	%rbx
	cmp	$2, %eax
	je	1f
	each_low load_y
	call_kernel
	each_low store_y
	vzeroupper
	ret
1:	each_low load_z
	each_high load_z
	each_mask load_k
	call_kernel
	each_low store_z
	each_high store_z
	each_mask store_k
	vzeroupper
	ret
	.size	fpstate_wide, . - fpstate_wide

	.globl	fpstate_wide_look
	.type	fpstate_wide_look, @function
fpstate_wide_look:
	mov	%rdi, %rsi
	push	%rbx
	call	level
	pop	%rbx
	cmp	$2, %eax
	je	1f
	each_low store_y
	ret
1:	each_low store_z
	each_high store_z
	each_mask store_k
	ret
	.size	fpstate_wide_look, . - fpstate_wide_look

	.globl	fpstate_wide_bytes
	.type	fpstate_wide_bytes, @function
fpstate_wide_bytes:
	push	%rbx
	call	level
	pop	%rbx
	lea	bytes_of_level(%rip), %rcx
	mov	(%rcx, %rax, 8), %rax
	ret
	.size	fpstate_wide_bytes, . - fpstate_wide_bytes

	/* Out: rax = 0, 1 (AVX) or 2 (AVX-512F).  Clobbers rbx-rdx, r9. */
	.type	level, @function
level:
	mov	$1, %eax
	cpuid
	and	$0x18000000, %ecx	/* OSXSAVE and AVX */
	cmp	$0x18000000, %ecx
	jne	1f
	xor	%ecx, %ecx
	xgetbv
	mov	%eax, %r9d		/* XCR0 */
	and	$0x6, %eax
	cmp	$0x6, %eax
	jne	1f
	mov	$7, %eax
	xor	%ecx, %ecx
	cpuid
	mov	$1, %eax
	bt	$16, %ebx		/* AVX512F */
	jnc	2f
	and	$0xe6, %r9d
	cmp	$0xe6, %r9d
	jne	2f
	mov	$2, %eax
2:	ret
1:	xor	%eax, %eax
	ret
	.size	level, . - level

	.section .rodata
	.balign	8
bytes_of_level:
	.quad	0, 16 * 32, 32 * 64 + 8 * 2
	.globl	fpstate_base_bytes
fpstate_base_bytes:
	.quad	16 * 16
	.section .note.GNU-stack, "", @progbits
