/*
 * Entry of a Linux arm64 Image: from the loader's jump to image_main() with the
 * kernel's page tables.  Secondary CPUs enter here too.
 *
 * On entry the CPU is at EL1 or EL2 with the MMU off.  The image is at any
 * multiple of 2 MiB.  x0 is the physical address of a device tree or of a
 * struct bootinfo.  The code is position independent until the MMU is on.
 * The first page has no other code, so that it can be a PE file's header, too.
 *
 * Linux, Documentation/arm64/booting.rst, "Call the kernel image" (header).
 */
#include "arch/arm64/asm.h"

	.section .head, "ax"
	.globl _start
head:	ccmp	x18, #0, #0xd, pl	/* no effect: its first bytes are MZ */
	b	entry
	.quad	0			/* offset from a 2 MiB boundary */
	.quad	__kern_bytes		/* memory, .bss included */
	.quad	0xa			/* little endian, 4 KiB pages, anywhere */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0			/* scripts/build/mkefi: the PE header's offset */
	.org	head + 4096		/* room for the PE header */

entry:
	mov	x19, x0
	bl	drop_to_el1
	mov	x21, x0
	mrs	x20, cntvct_el0

	/*
	 * Page tables and stack for the next steps are written with the caches
	 * off.  So drop the cache lines there: an old line could be written
	 * back over them, or read instead of them.
	 */
	bl	invalidate_early
	adrp	x0, __early_start
	adrp	x1, __early_end
1:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	1b
	adrp	x0, early_stack_end
	mov	sp, x0
	mov	x0, x19
	bl	arm64_early_map

	bl	invalidate_early

	bl	mmu_on
	ldr	x0, =boot_high
	br	x0

boot_high:
	ldr	x0, =(BOOT_STACK + (1 << KSTACK_SHIFT))
	mov	sp, x0
	adrp	x0, __bss_start
	adrp	x1, __bss_end
2:	stp	xzr, xzr, [x0]
	stp	xzr, xzr, [x0, #16]
	stp	xzr, xzr, [x0, #32]
	stp	xzr, xzr, [x0, #48]
	add	x0, x0, #64
	cmp	x0, x1
	b.lo	2b
	adrp	x0, arm64_boot_cpu
	add	x0, x0, :lo12:arm64_boot_cpu
	bl	cpu_registers
	adrp	x0, boot_entry_tick
	str	x20, [x0, :lo12:boot_entry_tick]
	adrp	x0, arm64_boot_el
	str	w21, [x0, :lo12:arm64_boot_el]
	mov	x29, xzr
	mov	x0, x19
	bl	image_main

/*
 * Entry of a CPU that left firmware's spin table.  Several CPUs may wait here;
 * arm64_released names the next to start.  See dev/spin_table.c.
 */
	.globl arm64_released_entry
arm64_released_entry:
	mrs	x1, mpidr_el1
	ldr	x2, =0xff00ffffff	/* MPIDR_AFFINITY */
	and	x1, x1, x2
	adrp	x2, arm64_released
	add	x2, x2, :lo12:arm64_released
1:	ldr	x3, [x2, #R_MPIDR]
	cmp	x3, x1
	b.eq	2f
	wfe
	b	1b
2:	ldr	x0, [x2, #R_CONTEXT]
	b	arm64_secondary_entry

/*
 * Entry of a CPU that PSCI CPU_ON starts.  x0 = its struct arm64_cpu, a virtual
 * address.  The boot CPU has made its page tables and stack.
 */
	.globl arm64_secondary_entry
arm64_secondary_entry:
	mov	x19, x0
	bl	drop_to_el1
	bl	mmu_on
	ldr	x0, =secondary_high
	br	x0

secondary_high:
	mov	x0, x19
	bl	cpu_registers
	ldr	x0, [x19, #AC_STACK]
	mov	sp, x0
	mov	x29, xzr
	mov	x0, x19
	bl	arm64_secondary_main

/* Set this CPU's system registers for the kernel; x0 = struct arm64_cpu. */
cpu_registers:
	ldr	x1, [x0, #AC_CPU]
	str	x0, [x1, #C_ARCH]
	msr	tpidr_el1, x1
	ldr	x1, =arm64_vectors
	msr	vbar_el1, x1
	mov	x1, #(3 << 20)		/* FPEN: libfdt uses SIMD registers */
	msr	cpacr_el1, x1
	msr	mdscr_el1, xzr		/* no breakpoint, no single step */
	msr	contextidr_el1, xzr
	msr	tpidr_el0, xzr
	msr	tpidrro_el0, xzr
	isb
	mrs	x1, id_aa64mmfr1_el1
	ubfx	x1, x1, #20, #4		/* PAN: payloads' memory only by ldtr */
	cbz	x1, 1f
	.inst	0xd500419f		/* msr pan, #1 */
1:	msr	daifclr, #4		/* an SError is reported where it arises */
	ret

/*
 * Turn on the MMU with the tables that arm64_early_map() made.  The caller
 * runs at its physical address, which they map one to one.
 * Arm ARM (DDI 0487), "MAIR_EL1", "TCR_EL1", "SCTLR_EL1".
 */
mmu_on:
	ldr	x0, =MAIR_VALUE
	msr	mair_el1, x0
	ldr	x0, =TCR_VALUE
	mrs	x1, id_aa64mmfr0_el1
	and	x2, x1, #0xf		/* PARange: 48 bits (5) at most */
	cmp	x2, #5
	b.ls	1f
	mov	x2, #5
1:	orr	x0, x0, x2, lsl #32	/* IPS */
	ubfx	x2, x1, #4, #4
	cmp	x2, #2			/* ASIDBits: 16 */
	b.ne	2f
	orr	x0, x0, #(1 << 36)	/* AS */
2:	msr	tcr_el1, x0
	adrp	x0, arm64_roots
	add	x0, x0, :lo12:arm64_roots
	ldp	x0, x1, [x0]
	msr	ttbr0_el1, x0
	msr	ttbr1_el1, x1
	tlbi	vmalle1
	ic	iallu
	dsb	nsh
	isb
	ldr	x0, =SCTLR_VALUE
	mrs	x1, id_aa64mmfr1_el1
	ubfx	x1, x1, #20, #4
	cbz	x1, 3f
	bic	x0, x0, #(1 << 23)	/* SPAN 0: exceptions set PSTATE.PAN */
3:	msr	sctlr_el1, x0
	isb
	ret

/* Invalidate the data cache lines of .bss.early, which the loader cleaned. */
invalidate_early:
	mrs	x2, ctr_el0
	ubfx	x2, x2, #16, #4		/* DminLine: log2 of words */
	mov	x3, #4
	lsl	x2, x3, x2
	adrp	x0, __early_start
	adrp	x1, __early_end
	dmb	sy
1:	dc	ivac, x0
	add	x0, x0, x2
	cmp	x0, x1
	b.lo	1b
	dsb	sy
	ret

/*
 * From EL2, give EL1 the whole machine and continue there; from EL1, do
 * nothing.  Returns the exception level at entry.  All these registers are
 * undefined after reset.
 * Arm ARM (DDI 0487), "HCR_EL2", "MDCR_EL2", "CPTR_EL2", "CNTHCTL_EL2";
 * GICv3 (IHI 0069), "ICC_SRE_EL2".
 */
drop_to_el1:
	ldr	x1, =SCTLR_EL1_OFF
	mrs	x0, CurrentEL
	lsr	x0, x0, #2
	cmp	x0, #2
	b.eq	1f
	msr	sctlr_el1, x1
	isb
	ret

1:	ldr	x2, =HCR_VALUE
	msr	hcr_el2, x2
	isb				/* E2H 0 changes names and layouts */
	msr	sctlr_el1, x1
	msr	cntvoff_el2, xzr
	mov	x1, #3			/* EL1 may use counter and timer */
	msr	cnthctl_el2, x1
	mrs	x1, midr_el1
	msr	vpidr_el2, x1
	mrs	x1, mpidr_el1
	msr	vmpidr_el2, x1
	msr	hstr_el2, xzr
	msr	vttbr_el2, xzr
	mov	x1, #0x32ff		/* no trap of FP and SVE */
	msr	cptr_el2, x1
	adrp	x1, el2_vectors
	add	x1, x1, :lo12:el2_vectors
	msr	vbar_el2, x1
	isb

	/* All event counters to EL1: HPMN = PMCR_EL0.N, with a PMUv3. */
	mov	x2, xzr
	mrs	x1, id_aa64dfr0_el1
	ubfx	x1, x1, #8, #4		/* PMUVer: 0 none, 0xf not PMUv3 */
	sub	x3, x1, #1
	cmp	x3, #0xe
	b.hs	2f
	mrs	x2, pmcr_el0
	ubfx	x2, x2, #11, #5
2:	msr	mdcr_el2, x2

	mrs	x1, id_aa64pfr0_el1
	ubfx	x2, x1, #24, #4		/* GIC: system registers */
	cbz	x2, 3f
	mrs	x2, icc_sre_el2
	mov	x3, #9			/* SRE, Enable */
	orr	x2, x2, x3
	msr	icc_sre_el2, x2
	isb
	mrs	x2, icc_sre_el2
	tbz	x2, #0, 3f
	msr	ich_hcr_el2, xzr
3:	ubfx	x2, x1, #32, #4		/* SVE */
	cbz	x2, 4f
	mov	x2, #0xf
	msr	S3_4_C1_C2_0, x2	/* ZCR_EL2: the longest vectors */
4:	mrs	x1, id_aa64mmfr0_el1
	ubfx	x2, x1, #56, #4		/* FGT: no fine-grained traps */
	cbz	x2, 5f
	msr	S3_4_C1_C1_4, xzr	/* HFGRTR_EL2 */
	msr	S3_4_C1_C1_5, xzr	/* HFGWTR_EL2 */
	msr	S3_4_C1_C1_6, xzr	/* HFGITR_EL2 */
	msr	S3_4_C3_C1_4, xzr	/* HDFGRTR_EL2 */
	msr	S3_4_C3_C1_5, xzr	/* HDFGWTR_EL2 */
5:	mrs	x1, id_aa64mmfr1_el1
	ubfx	x1, x1, #40, #4		/* HCX */
	cbz	x1, 6f
	msr	S3_4_C1_C2_2, xzr	/* HCRX_EL2 */
6:	mov	x1, #(PSTATE_DAIF | PSTATE_EL1H)
	msr	spsr_el2, x1
	msr	elr_el2, x30
	eret

/*
 * EL2 has no more code: an hvc from EL1 returns -1, "not supported".  At EL2
 * itself an access above is undefined if EL3 traps it, as PMCR_EL0 by
 * MDCR_EL3.TPM: it is skipped.
 */
	.balign	2048
el2_vectors:
	.rept	8
	mrs	x2, elr_el2
	add	x2, x2, #4
	msr	elr_el2, x2
	mov	x2, xzr
	eret
	.balign	128
	.endr
	.rept	8
	mov	x0, #-1
	eret
	.balign	128
	.endr

	.section .bss.early, "aw", %nobits
	.balign	4096
	.skip	4096
early_stack_end:
