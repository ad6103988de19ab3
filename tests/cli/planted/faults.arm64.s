// Images for planted_faults.py: what all have, and after each line "#: NAME" an image.  They send numbers of 8 bytes.
.globl main, ap_main, fault, irq
end:
	ldr x0, =0x84000008
	hvc 0
ap_main: irq:
	b irq
fault:
	add x1, x1, 4
	msr elr_el1, x1
	eret
.ltorg
send:
	mov x9, 0x09000000
	mov x10, 8
1:
	strb w0, [x9]
	lsr x0, x0, 8
	subs x10, x10, 1
	b.ne 1b
	ret

.macro LEVEL n
	mov x0, \n
	msr csselr_el1, x0
	isb
	mrs x0, ccsidr_el1
	bl send
.endm

#: all
// CLIDR and each CCSIDR, and a counter that freezes 100 instructions after it is set, three times
main:
	udf 0
	udf 0
	mrs x0, clidr_el1
	bl send
	LEVEL 0
	LEVEL 1
	LEVEL 2
	LEVEL 4
	mov x0, 8
	msr pmevtyper0_el0, x0
	mov x0, 1
	msr pmintenset_el1, x0
	mov x0, 0x241
	msr pmcr_el0, x0
	mov x12, 3
2:
	mov x0, -100
	msr pmevcntr0_el0, x0
	mov x0, 1
	msr pmcntenset_el0, x0
	mov x11, 1000
3:
	subs x11, x11, 1
	b.ne 3b
	mrs x0, pmevcntr0_el0
	uxtw x0, w0
	bl send
	mov x0, 1
	msr pmcntenclr_el0, x0
	msr pmovsclr_el0, x0
	subs x12, x12, 1
	b.ne 2b
	b end
