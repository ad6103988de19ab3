/*
 * The arm64 test image: entry of both CPUs at EL1 with the MMU off, vectors,
 * and code with known counts.
 *
 * Linux, "Booting AArch64 Linux" (the header); Arm ARM (DDI 0487),
 * "AArch64 Self-hosted exceptions", "The Performance Monitors Extension".
 */
	.section .text.start, "ax"
	.globl start
start:
	b 1f
	.long 0
	.quad 0x80000			/* text_offset */
	.quad end - start
	.quad 0xa			/* little endian, 4 KiB pages, anywhere */
	.quad 0, 0, 0
	.long 0x644d5241		/* "ARM\x64" */
	.long 0
1:	adr x0, vectors
	msr vbar_el1, x0
	adrp x0, stack_top
	mov sp, x0
	bl main
2:	wfi
	b 2b

	/* CPU 1, from PSCI CPU_ON */
	.globl ap_start
ap_start:
	adr x0, vectors
	msr vbar_el1, x0
	adrp x0, ap_stack_top
	mov sp, x0
	bl ap_main
	b 2b

	.text
	.balign 2048
vectors:
	.macro FAULT
	.balign 128
	mrs x0, esr_el1
	mrs x1, elr_el1
	b fault
	.endm
	.rept 5				/* current EL with SP0; SPx: synchronous */
	FAULT
	.endr
	.balign 128			/* current EL with SPx: IRQ */
	stp x0, x1, [sp, #-16]!
	stp x2, x3, [sp, #-16]!
	stp x4, x5, [sp, #-16]!
	stp x6, x7, [sp, #-16]!
	stp x8, x9, [sp, #-16]!
	stp x10, x11, [sp, #-16]!
	stp x12, x13, [sp, #-16]!
	stp x14, x15, [sp, #-16]!
	stp x16, x17, [sp, #-16]!
	stp x18, x30, [sp, #-16]!
	mrs x0, elr_el1
	bl irq
	b leave_irq
	.rept 10
	FAULT
	.endr
	.balign 128
leave_irq:
	ldp x18, x30, [sp], #16
	ldp x16, x17, [sp], #16
	ldp x14, x15, [sp], #16
	ldp x12, x13, [sp], #16
	ldp x10, x11, [sp], #16
	ldp x8, x9, [sp], #16
	ldp x6, x7, [sp], #16
	ldp x4, x5, [sp], #16
	ldp x2, x3, [sp], #16
	ldp x0, x1, [sp], #16
	eret

/* The first MSR starts the counters in X0; an MRS, counted, reads PMEVCNTR0. */
	.globl run_loop			/* (counters, n): 1 + 2n + 1 */
run_loop:
	msr pmcntenset_el0, x0
	mov x2, x1
1:	subs x2, x2, #1
	b.ne 1b
	mrs x0, pmevcntr0_el0
	ret

	.globl run_yield		/* (counters, n): 1 + 3n + 1 */
run_yield:				/* yields to the other CPU n times */
	msr pmcntenset_el0, x0
	mov x2, x1
1:	yield
	subs x2, x2, #1
	b.ne 1b
	mrs x0, pmevcntr0_el0
	ret

	.globl run_nops, run_nops_body	/* (counters) */
run_nops:
	msr pmcntenset_el0, x0
run_nops_body:
	.rept 40
	nop
	.endr
	ret

	.globl run_wfi			/* (counters), until the timer ticks */
run_wfi:
	msr pmcntenset_el0, x0
	wfi
	msr daifclr, #2
	.rept 80
	nop
	.endr
	msr daifset, #2
	ret

	.bss
	.balign 4096
	.zero 16384
stack_top:
	.zero 16384
ap_stack_top:
	.zero 4096
