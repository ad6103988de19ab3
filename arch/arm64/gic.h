/*
 * The interrupt controller, version 2 or 3.  Included by arch/arm64/.
 *
 * Only interrupts of the CPU's own are used: software generated ones (SGI,
 * INTID 0..15) and private peripherals' (PPI, 16..31).
 */
#ifndef ARCH_ARM64_GIC_H
#define ARCH_ARM64_GIC_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arm64/machine.h"
#include "arch/arm64/sysreg.h"

struct arm64_cpu;

#define GIC_NSGI       16
#define GIC_INTID(iar) ((iar)&0x3ff)
#define GIC_SPURIOUS   1020 /* and above: no interrupt */
/* All interrupts have this priority; the CPU takes what is more urgent. */
#define GIC_PRIORITY 0x80
#define GIC_PMR_ALL  0xf0

struct gic_ops {
	bool (*init)(void); /* the distributor, once */
	/* This CPU's part, everything masked but the SGIs. */
	bool (*cpu_init)(struct arm64_cpu *ac);
	void (*enable)(struct arm64_cpu *ac, uint32_t intid); /* a PPI */
	void (*sgi)(const struct arm64_cpu *to, uint32_t intid);
};
extern const struct gic_ops gicv2_ops, gicv3_ops, *gic;

/* Wait until a register's bit is 0; false after a second. */
bool gic_wait_clear(const volatile uint32_t *reg, uint32_t bit);

/* By `machine`; prints a line.  Then for each CPU, on that CPU. */
void gic_init(void);
void gic_cpu_init(void);
/* Deliver a PPI of this CPU. */
void gic_enable(uint32_t intid);
/* gicv2.c */
uint32_t gicv2_acknowledge(void);
void gicv2_end(uint32_t iar);

/*
 * Take the most urgent interrupt: its INTID, and on GICv2 the sender of an
 * SGI above.  None other comes before gic_end() is told of it.
 */
static inline uint32_t
gic_acknowledge(void)
{
	uint32_t intid;

	if (machine.m_gic != 3)
		return gicv2_acknowledge();
	intid = (uint32_t)read_sysreg(icc_iar1_el1);
	dsb(sy); /* the read is what acknowledges */
	return intid;
}

/* No ISB: what follows before the exception's return does not depend on it. */
static inline void
gic_end(uint32_t iar)
{
	if (machine.m_gic != 3)
		gicv2_end(iar);
	else
		write_sysreg(icc_eoir1_el1, iar);
}

/* It is one of these; false: it is none. */
bool gic_take(uint32_t iar);

#endif /* ARCH_ARM64_GIC_H */
