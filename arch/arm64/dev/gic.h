/*
 * The interrupt controller, version 2 or 3.  Included by arch/arm64/.
 *
 * The kernel uses interrupts that belong to one CPU: software generated
 * interrupts (SGI, INTID 0..15) and private peripheral interrupts (PPI,
 * INTID 16..31).  A PMU's overflow may also be a shared peripheral interrupt
 * (SPI, INTID 32..1019), which the GIC routes to the PMU's CPU.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arm64_cpu;

#define GIC_NSGI     16
#define GIC_SPI      32   /* the first SPI */
#define GIC_SPURIOUS 1020 /* 1020 to 1023 mean that no interrupt is pending */
#define GIC_NSPECIAL 4
/* All interrupts have one priority, and the priority mask lets it pass. */
#define GIC_PRIORITY 0x80
#define GIC_PMR_ALL  0xf0

struct gic_ops {
	bool (*init)(void); /* the distributor, once */
	/* This CPU's part: enable the SGIs, disable the PPIs. */
	bool (*cpu_init)(struct arm64_cpu *ac);
	/* A PPI, or an SPI whose target is this CPU from now on. */
	void (*enable)(struct arm64_cpu *ac, uint32_t intid);
	void (*dispatch)(void); /* see gic_dispatch */
	void (*sgi)(const struct arm64_cpu *to, uint32_t intid);
};
extern const struct gic_ops gicv2_ops, gicv3_ops;

/*
 * Disable all shared peripherals' interrupts, which firmware may have left
 * enabled.  Nothing handles them, so one that stays asserted would interrupt
 * for ever.  Call while the distributor is off.
 */
void gic_mask_spis(volatile uint32_t *gicd);
/*
 * Set what several SPIs have in one register, for the SPIs of PMUs: they assert
 * levels, and are in group 1 if `group` says so.  Call before another CPU runs.
 */
void gic_prepare_spis(volatile uint32_t *gicd, bool group);
/* Wait until a register's bit is 0.  Returns false after a second. */
bool gic_wait_clear(const volatile uint32_t *reg, uint32_t bit);

/* Find and start the GIC that `machine` names, and print a line about it. */
void gic_init(void);
/* Each CPU calls this for its own part. */
void gic_cpu_init(void);
/* Enable a PPI of this CPU, or an SPI for this CPU alone. */
void gic_enable(uint32_t intid);
/*
 * Acknowledge one interrupt, handle it, and end it.  Another one that is
 * pending traps again.  The write that ends it needs no ISB: an exception
 * return follows.
 */
extern void (*gic_dispatch)(void);
/*
 * Handle an interrupt that is not the overflow interrupt.  Returns false if
 * `intid` means that none was pending, so it must not be ended.
 */
bool gic_take(uint32_t intid);
