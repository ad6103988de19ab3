/* The local APIC of each CPU, as xAPIC or x2APIC.  Included by arch/x86/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/insn.h"
#include "arch/x86/mmio.h"
#include "arch/x86/msr.h"

struct trapframe;

/*
 * Registers, as offsets in xAPIC's page.
 * Intel SDM vol. 3A, "Local APIC Register Address Map".
 */
#define APIC_ID          0x020
#define APIC_VERSION     0x030
#define APIC_TPR         0x080
#define APIC_EOI         0x0b0
#define APIC_SVR         0x0f0
#define APIC_ISR(vec)    (0x100 + (vec) / 32 * 0x10) /* in service */
#define APIC_IRR(vec)    (0x200 + (vec) / 32 * 0x10) /* requested */
#define APIC_ESR         0x280
#define APIC_ICR         0x300 /* x2APIC: 64 bits wide */
#define APIC_ICR_HIGH    0x310
#define APIC_LVT_CMCI    0x2f0
#define APIC_LVT_TIMER   0x320
#define APIC_LVT_THERMAL 0x330
#define APIC_LVT_PMI     0x340
#define APIC_LVT_LINT0   0x350
#define APIC_LVT_LINT1   0x360
#define APIC_LVT_ERROR   0x370
#define APIC_TIMER_INIT  0x380
#define APIC_TIMER_NOW   0x390
#define APIC_TIMER_DIV   0x3e0

/* The entry exists if the last LVT entry of APIC_VERSION is at least this. */
#define APIC_LAST_PMI     4
#define APIC_LAST_THERMAL 5
#define APIC_LAST_CMCI    6

#define APIC_LVT_MASKED 0x10000
#define APIC_LVT_NMI    0x400
#define APIC_TIMER_TSC  0x40000 /* LVT_TIMER: use IA32_TSC_DEADLINE */
#define APIC_DIV_1      0xb

/* ICR: delivery modes other than a fixed vector, and destinations. */
#define APIC_ICR_NMI     0x00400
#define APIC_ICR_INIT    0x00500
#define APIC_ICR_STARTUP 0x00600
#define APIC_ICR_ASSERT  0x04000
#define APIC_ICR_SELF    0x40000
#define APIC_ICR_OTHERS  0xc0000

/* Find the APIC and choose its mode.  Once, on the boot CPU, after ACPI. */
void x86_apic_init(void);
/* Put this CPU's APIC into that mode, and mask all sources. */
void x86_apic_init_cpu(void);
const char *x86_apic_mode(void);

extern struct x86_apic {
	bool xa_x2;                 /* x2APIC mode: the registers are MSRs */
	volatile uint32_t *xa_regs; /* else: their address */
} x86_apic;

static inline uint32_t
x86_apic_read(unsigned reg)
{
	if (x86_apic.xa_x2)
		return (uint32_t)rdmsr(IA32_X2APIC + reg / 16);
	return mmio_read32(&x86_apic.xa_regs[reg / 4]);
}

static inline void
x86_apic_write(unsigned reg, uint64_t v)
{
	if (x86_apic.xa_x2)
		wrmsr(IA32_X2APIC + reg / 16, v);
	else
		mmio_write32(&x86_apic.xa_regs[reg / 4], (uint32_t)v);
}

/* The id of this CPU's APIC, by which other CPUs send to it. */
uint32_t x86_apic_id(void);
/* Send an interprocessor interrupt.  APIC_ICR_OTHERS ignores dest. */
void x86_apic_send(uint32_t dest, uint32_t icr);

/*
 * Interrupt this CPU as soon as it enables interrupts.  For NMI handlers: the
 * NMI may have hit x86_apic_send().
 */
void x86_apic_send_self(uint32_t vector);

/* Handle an interrupt: vectors from 32 on. */
void x86_interrupt(struct trapframe *tf);
