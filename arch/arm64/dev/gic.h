/*
 * The interrupt controller, version 2 or 3.  Included by arch/arm64/.
 *
 * Only interrupts of the CPU's own are used: software generated ones (SGI,
 * INTID 0..15) and private peripherals' (PPI, 16..31).
 */
#ifndef ARCH_ARM64_DEV_GIC_H
#define ARCH_ARM64_DEV_GIC_H

#include <stdbool.h>
#include <stdint.h>

struct arm64_cpu;
struct trapframe;

#define GIC_NSGI     16
#define GIC_SPURIOUS 1020 /* and the next three: no interrupt */
#define GIC_NSPECIAL 4
/* All interrupts have this priority; the CPU takes what is more urgent. */
#define GIC_PRIORITY 0x80
#define GIC_PMR_ALL  0xf0

struct gic_ops {
	bool (*init)(void); /* the distributor, once */
	/* This CPU's part, everything masked but the SGIs. */
	bool (*cpu_init)(struct arm64_cpu *ac);
	void (*enable)(struct arm64_cpu *ac, uint32_t intid); /* a PPI */
	void (*dispatch)(struct trapframe *tf);
	void (*sgi)(const struct arm64_cpu *to, uint32_t intid);
};
extern const struct gic_ops gicv2_ops, gicv3_ops;

/*
 * Firmware's use of shared peripherals' interrupts ends here, while none is
 * delivered: one that stays asserted would come again for ever.
 */
void gic_mask_spis(volatile uint32_t *gicd);
/* Wait until a register's bit is 0; false after a second. */
bool gic_wait_clear(const volatile uint32_t *reg, uint32_t bit);

/* By `machine`; prints a line.  Then for each CPU, on that CPU. */
void gic_init(void);
void gic_cpu_init(void);
/* Deliver a PPI of this CPU. */
void gic_enable(uint32_t intid);
/*
 * Take the most urgent interrupt; the next one traps again.  The ends of
 * interrupts need no ISB: an exception's return is near.
 */
extern void (*gic_dispatch)(struct trapframe *tf);
/* What an interrupt is for, but for overflows; false: it is none. */
bool gic_take(uint32_t intid);

#endif /* ARCH_ARM64_DEV_GIC_H */
