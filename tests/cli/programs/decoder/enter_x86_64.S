/* Execute the code with the registers of struct state. */
	.macro	each what
	\what	rax, 0
	\what	rcx, 8
	\what	rdx, 16
	\what	rbx, 24
	\what	rbp, 40
	\what	rsi, 48
	\what	rdi, 56
	\what	r8, 64
	\what	r9, 72
	\what	r10, 80
	\what	r11, 88
	\what	r12, 96
	\what	r13, 104
	\what	r14, 112
	\what	r15, 120
	.endm
	.macro	load r, at
	mov	state_in+\at(%rip), %\r
	.endm
	.macro	store r, at
	mov	%\r, state_out+\at(%rip)
	.endm

	.text
	.globl	execute_code, code_end
execute_code:
	.irp	r, rbx, rbp, r12, r13, r14, r15
	push	%\r
	.endr
	mov	%rsp, saved_sp(%rip)
	vzeroupper
	fninit
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	state_in+200+32*\n(%rip), %ymm\n
	.endr
	cmpl	$0, has_masks(%rip)
	je	1f
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	kmovq	state_in+136+8*\n(%rip), %k\n
	.endr
1:	pushq	state_in+128(%rip)
	popfq
	each	load
	jmp	*code_page(%rip)
code_end:
	each	store
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	%ymm\n, state_out+200+32*\n(%rip)
	.endr
	mov	saved_sp(%rip), %rsp
	pushfq
	popq	state_out+128(%rip)
	push	$0x202
	popfq
	emms
	cmpl	$0, has_masks(%rip)
	je	2f
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	kmovq	%k\n, state_out+136+8*\n(%rip)
	.endr
2:	vzeroupper
	.irp	r, r15, r14, r13, r12, rbp, rbx
	pop	%\r
	.endr
	ret
	.section .note.GNU-stack, "", %progbits
