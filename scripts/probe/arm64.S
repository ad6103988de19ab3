/*
 * Tests whether this KVM can be used: a Linux Image for QEMU's virt machine.
 * It prints on its UART the lines that scripts/probe/x86_64.S describes, with
 * SIMD instead of SSE, and powers off.  TICKS are of CNTVCT_EL0.  PMU is
 * ID_AA64DFR0_EL1.PMUVer, or 0 without a PMUv3.
 *
 * Linux, "Booting AArch64 Linux" (header, entry state).  Arm ARM (DDI 0487),
 * "ID_AA64DFR0_EL1", "PMEVTYPER<n>_EL0", "PMCNTENSET_EL0".  Arm PSCI
 * (DEN0022), "SYSTEM_OFF".
 */
#define LOOPS 10000

#define UART_DR         0x09000000 /* fixed on this machine */
#define INST_RETIRED    0x08
#define PMCR_E_P_C_LC   0x47
#define PSCI_SYSTEM_OFF 0x84000008

	.text
	b start
	.long 0
	.quad 0x80000 /* text offset */
	.quad 0x10000 /* bytes of memory, stack not needed */
	.quad 0xa
	.quad 0, 0, 0
	.ascii "ARM\x64"
	.long 0

	.globl start
start:
	adr x20, boot
	bl puts

	isb
	mrs x21, cntvct_el0
	bl loop
	isb
	mrs x22, cntvct_el0
	sub x19, x22, x21
	adr x20, ticks
	bl puts_hex

	mrs x19, id_aa64dfr0_el1
	ubfx x19, x19, #8, #4
	cmp x19, #0xf /* IMPLEMENTATION DEFINED, not a PMUv3 */
	csel x19, xzr, x19, eq
	mov x23, x19
	adr x20, pmu
	bl puts_hex
	mov x19, #0
	cbz x23, 1f
	bl count_loop
1:	adr x20, count
	bl puts_hex

	mov x0, #(3 << 20) /* CPACR_EL1.FPEN */
	msr cpacr_el1, x0
	isb
	fmov v0.2d, #1.0
	fadd v0.2d, v0.2d, v0.2d
	adr x20, simd
	bl puts

	adr x20, end
	bl puts
	ldr w0, =PSCI_SYSTEM_OFF
	hvc #0
1:	wfi
	b 1b

loop:
	mov w0, #LOOPS
1:	subs w0, w0, #1
	b.ne 1b
	ret

/* Set x19 to the instructions counted in the loop. */
count_loop:
	mov x24, x30
	mov x0, #PMCR_E_P_C_LC
	msr pmcr_el0, x0
	mov x0, #INST_RETIRED
	msr pmevtyper0_el0, x0
	mov x0, #1
	msr pmcntenset_el0, x0
	isb
	bl loop
	isb
	mrs x19, pmevcntr0_el0
	msr pmcntenclr_el0, x0
	br x24

/* Print the string at x20. */
puts:
	ldr x0, =UART_DR
1:	ldrb w1, [x20], #1
	cbz w1, 2f
	str w1, [x0]
	b 1b
2:	ret

/* Print the string at x20, the low half of x19 in hexadecimal, a newline. */
puts_hex:
	mov x25, x30
	bl puts
	adr x2, digits
	mov w3, #8
1:	ror w19, w19, #28
	and w1, w19, #15
	ldrb w1, [x2, x1]
	str w1, [x0]
	subs w3, w3, #1
	b.ne 1b
	mov w1, #'\n'
	str w1, [x0]
	br x25

boot:	.asciz "BOOT\n"
ticks:	.asciz "TICKS "
pmu:	.asciz "PMU "
count:	.asciz "COUNT "
simd:	.asciz "SIMD\n"
end:	.asciz "END\n"
digits:	.ascii "0123456789abcdef"
