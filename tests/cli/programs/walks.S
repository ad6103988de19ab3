/* Five ways through an area: MODE chooses one, TIMES is how often it is done. */
	.intel_syntax noprefix
	.globl _start
_start:	mov r12d, TIMES
	lea r14, [rip + area]
	mov eax, 12345
1:
	.if MODE == 0			/* in order, over 64 KiB */
	mov r13, [r14 + rbx]
	add rbx, 64
	.elseif MODE == 1		/* each ninth line */
	mov r13, [r14 + rbx]
	add rbx, 576
	.elseif MODE == 2		/* at random */
	imul rax, rax, 1103515245
	add rax, 12345
	mov rbx, rax
	shr rbx, 12
	and rbx, 0xffff
	and rbx, -8
	mov r13, [r14 + rbx]
	.elseif MODE == 3		/* at random, written */
	imul rax, rax, 1103515245
	add rax, 12345
	mov rbx, rax
	shr rbx, 12
	and rbx, 0xffff
	and rbx, -8
	mov [r14 + rbx], rax
	.else				/* nine lines of a set, and others */
	mov r13, [r14 + rbx]
	add rbx, 4096
	mov [r14 + rbp], rax
	add rbp, 200
	and rbp, 0x7fff
	.endif
	and rbx, 0xffff
	and rbx, -8
	dec r12d
	jnz 1b
	mov eax, 60
	xor edi, edi
	syscall
	.bss
	.balign 4096
area:	.zero 131072
