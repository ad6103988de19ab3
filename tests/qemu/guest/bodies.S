/*
 * Code with known counts.  All bodies have the same form:
 *
 *	uint64_t body(msr, lo, hi, index, n)	in EDI, ESI, EDX, ECX, R8D
 *
 * A body starts the count by writing hi:lo to the MSR, runs the code it is
 * named for, and reads counter `index'.  The WRMSR is not counted.  The MOV
 * before the RDPMC is counted, the RDPMC is not.
 */
	.macro BODY name
	.text
	.balign 64
	.globl \name
\name:
	push %rbx
	movl %ecx, %r9d
	movl %edi, %ecx
	movl %esi, %eax
	leaq buffer(%rip), %rdi
	leaq buffer(%rip), %rsi
	wrmsr
\name\()_body:
	.globl \name\()_body
	.endm

	.macro READ
	movl %r9d, %ecx
	rdpmc
	shlq $32, %rdx
	orq %rdx, %rax
	pop %rbx
	ret
	.endm

	BODY body_empty
	READ

	BODY body_nops
	.rept 10
	nop
	.endr
	READ

	/* 1 + 2n instructions, n branches */
	BODY body_loop
	movl %r8d, %ebx
	.globl body_loop_head
body_loop_head:
	decl %ebx
	jnz body_loop_head
	READ

	/* 1 + 3n instructions, n branches; yields to the other CPU n times */
	BODY body_pause
	movl %r8d, %ebx
1:	pause
	decl %ebx
	jnz 1b
	READ

	/* 4 branches: call, ret, jmp, indirect jmp; 5 instructions */
	BODY body_branches
	call 1f
	jmp 2f
1:	ret
2:	leaq 3f(%rip), %rax
	jmp *%rax
3:	READ

	/* loop and jrcxz: 1 + n + 1 branches; 3 + n instructions */
	BODY body_loop_insn
	movl %r8d, %ecx
	jrcxz 2f
1:	loop 1b
	nop
2:	READ

	BODY body_rdpmc		/* 2 */
	movl %r9d, %ecx
	rdpmc
	READ

	BODY body_rdtsc		/* 2 */
	rdtsc
	rdtsc
	READ

	BODY body_cpuid		/* 2, and clobbers RBX */
	xorl %eax, %eax
	cpuid
	READ

	BODY body_stosb		/* 2 for any n */
	movl %r8d, %ecx
	rep stosb
	READ

	BODY body_movsb		/* 2 for any n */
	movl %r8d, %ecx
	rep movsb
	READ

	BODY body_cmpsb		/* 2 for any n: all equal */
	movl %r8d, %ecx
	repe cmpsb
	READ

	BODY body_scasb		/* 2 for any n: the first byte differs */
	movl %r8d, %ecx
	repe scasb
	READ

	BODY body_mmio		/* 5: the third is a device register */
	nop
	nop
	movl 0xfee00020, %eax
	nop
	nop
	READ

	BODY body_port		/* 3 */
	nop
	inb $0x61, %al
	nop
	READ

	/* Faults: R10 is the number of bytes to skip, see start.S. */
	BODY body_ud2		/* 1 + 3 in the handler */
	movl $2, %r10d
	ud2
	READ

	BODY body_helper_ud	/* 1 + 3: #UD from RDPKRU, CR4.PKE is 0 */
	movl $3, %r10d
	rdpkru
	READ

	BODY body_page_fault	/* 2 + 4: nothing is mapped at 4 GiB */
	movl $3, %r10d
	movl $1, %eax
	shlq $32, %rax
	movq (%rax), %rax
	nop
	READ

	BODY body_divide	/* 3 + 3 */
	movl $2, %r10d
	xorl %edx, %edx
	xorl %ebx, %ebx
	divl %ebx
	READ

	/* Stop by WRMSR, which is counted; then read with RDMSR. */
	.text
	.globl body_stop
body_stop:			/* (msr, lo, hi, counter msr): 3 + 3 + 1 */
	movl %ecx, %r9d
	movl %edi, %ecx
	movl %esi, %eax
	wrmsr
	nop
	nop
	nop
	movl %edi, %ecx
	xorl %eax, %eax
	xorl %edx, %edx
	wrmsr
	nop
	nop
	movl %r9d, %ecx
	rdmsr
	shlq $32, %rdx
	orq %rdx, %rax
	ret

/*
 * User mode: IRETQ counts for the kernel, INT for the user.  User code retires
 * 2 + 2n instructions, the kernel 3: IRETQ, MOV to RSP, MOV to ECX.
 */
	.globl body_user, user_return
body_user:
	push %rbx
	push %rbp
	movq %rsp, kernel_rsp
	movl %ecx, %r9d
	movl %edi, %ecx
	movl %esi, %eax
	push $0x23
	push $user_stack_top
	push $2
	push $0x2b
	push $1f
	wrmsr
	iretq
1:	movl %r8d, %ebx
2:	decl %ebx
	jnz 2b
	int $0x80
user_return:
	movq kernel_rsp, %rsp
	movl %r9d, %ecx
	rdpmc
	shlq $32, %rdx
	orq %rdx, %rax
	pop %rbp
	pop %rbx
	ret

/*
 * The same with SYSRET, which counts for the kernel, and SYSCALL for the user.
 * The kernel retires 4: MOV to RCX, SYSRETQ, MOV to RSP, MOV to ECX.
 */
	.globl body_syscall, syscall_return
body_syscall:
	push %rbx
	push %rbp
	movq %rsp, kernel_rsp
	movl %ecx, %r9d
	movl %edi, %ecx
	movl %esi, %eax
	movl $2, %r11d
	wrmsr
	movl $1f, %ecx
	sysretq
1:	movl %r8d, %ebx
2:	decl %ebx
	jnz 2b
	syscall
syscall_return:
	movq kernel_rsp, %rsp
	movl %r9d, %ecx
	rdpmc
	shlq $32, %rdx
	orq %rdx, %rax
	xorl %ecx, %ecx
	movw %cx, %ss		/* SYSCALL left the user's selector */
	pop %rbp
	pop %rbx
	ret

	/* (index): RDPMC in user mode; returns 1 if it faulted */
	.globl user_rdpmc
user_rdpmc:
	push %rbx
	push %rbp
	movq %rsp, kernel_rsp
	movl %edi, %r9d
	xorl %r11d, %r11d
	push $0x23
	push $user_stack_top
	push $2
	push $0x2b
	push $1f
	iretq
1:	movl $2, %r10d
	movl %r9d, %ecx
	rdpmc
	movl %r11d, %ebx
	int $0x81
	.globl user_rdpmc_return
user_rdpmc_return:
	movl %ebx, %eax
	movq kernel_rsp, %rsp
	pop %rbp
	pop %rbx
	ret

/*
 * Bodies for interrupts.  They read no counter.  Their instructions have one
 * byte if the address must show their number.  (msr, lo, hi, -, n)
 */
	.macro PLAIN name
	.text
	.balign 64
	.globl \name, \name\()_body
\name:
	push %rbx
	movl %edi, %ecx
	movl %esi, %eax
	leaq buffer(%rip), %rdi
	wrmsr
\name\()_body:
	.endm

	PLAIN run_nops
	.rept 40
	nop
	.endr
	pop %rbx
	ret

	PLAIN run_loop
	movl %r8d, %ebx
	.globl run_loop_head
run_loop_head:
	decl %ebx
	jnz run_loop_head
	nop
	pop %rbx
	ret

	PLAIN run_stosb
	movl %r8d, %ecx
	nop
	rep stosb
	.globl run_stosb_after
run_stosb_after:
	.rept 20
	nop
	.endr
	pop %rbx
	ret

	PLAIN run_jumps
	.rept 9
	nop
	jmp 1f
	nop
1:
	.endr
	pop %rbx
	ret
	.globl run_jumps_stride
	.set run_jumps_stride, 4

	/* Halted until the timer ticks */
	PLAIN run_halt
	sti
	hlt
	.rept 60
	nop
	.endr
	cli
	pop %rbx
	ret

/*
 * For the oracle.  Between oracle_body and oracle_read, -d exec prints a line
 * for each counted instruction, and n for the passes of the string instruction.
 */
	BODY oracle
	movl $20, %ebx
1:	call 2f
	decl %ebx
	jnz 1b
	jmp 3f
2:	push %rbx
	pop %rbx
	ret
3:	movl %r8d, %ecx
	rep stosb
	nop
	.globl oracle_read
oracle_read:
	READ

/*
 * The complete run of a guest.  The host retires 4: LEA, VMRUN, STGI, and the
 * MOV before the read.  An intercepted instruction does not run.  See svm.c.
 */
	BODY body_guest
	leaq svm_vmcb(%rip), %rax
	vmrun
	stgi
	READ

	/* The guest: 1 + 2n */
	.globl svm_loop, svm_nops, svm_xsetbv
svm_loop:
	movl %r8d, %ebx
1:	decl %ebx
	jnz 1b
	vmmcall

svm_nops:
	.rept 20
	nop
	.endr
	vmmcall

svm_xsetbv:
	xorl %ecx, %ecx
	movl $3, %eax
	xorl %edx, %edx
	xsetbv
	vmmcall

	.bss
	.balign 4096
	.globl svm_vmcb
svm_vmcb:
	.zero 4096
	.balign 64
	.globl buffer
buffer:
	.zero 8192
kernel_rsp:
	.quad 0
	.zero 4096
user_stack_top:
