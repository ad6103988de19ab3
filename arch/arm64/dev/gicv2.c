/*
 * The driver of a GICv2, whose CPU interface is in memory.
 * Arm Generic Interrupt Controller Architecture Specification version 2
 * (IHI 0048), "Programmers' Model"; "GICD_ICPENDRn", "GICD_CPENDSGIRn",
 * "GICD_ICFGRn", "GICD_ITARGETSRn", "GICD_IPRIORITYRn" (both by bytes).
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/dev/gic.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"

#define INTID(iar)         ((iar)&0x3ff) /* 12:10: who sent the SGI */
#define GICD_CTLR          (0x000 / 4)
#define GICD_ISENABLER(n)  (0x100 / 4 + (n))
#define GICD_ICENABLER(n)  (0x180 / 4 + (n))
#define GICD_ICPENDR(n)    (0x280 / 4 + (n))
#define GICD_ICACTIVER(n)  (0x380 / 4 + (n))
#define GICD_IPRIORITYR(n) (0x400 / 4 + (n))
#define GICD_ITARGETSR(n)  (0x800 / 4 + (n))
#define GICD_ICFGR(n)      (0xc00 / 4 + (n))
#define GICD_SGIR          (0xf00 / 4)
#define GICD_CPENDSGIR(n)  (0xf10 / 4 + (n))
#define GICC_CTLR          (0x00 / 4)
#define GICC_PMR           (0x04 / 4)
#define GICC_IAR           (0x0c / 4)
#define GICC_EOIR          (0x10 / 4)
#define GICC_ENABLE        1
#define ALL_SGIS           0xffffU
#define ICFGR_LEVEL        0

static volatile uint32_t *gicd, *gicc;

static bool
init(void)
{
	gicd = arch_map_device(machine.m_gicd.r_pa, machine.m_gicd.r_bytes);
	gicc = arch_map_device(machine.m_gicc.r_pa, machine.m_gicc.r_bytes);
	if (gicd == NULL || gicc == NULL || machine.m_gicc.r_pa == 0)
		return false;
	mmio_write32(&gicd[GICD_CTLR], 0);
	gic_mask_spis(gicd);
	gic_prepare_spis(gicd, false);
	mmio_write32(&gicd[GICD_CTLR], 1);
	return true;
}

static bool
cpu_init(struct arm64_cpu *ac)
{
	/* The first eight registers read as the mask of the reading CPU. */
	ac->ac_gicv2_mask = mmio_read32(&gicd[GICD_ITARGETSR(0)]) & 0xff;
	mmio_write32(&gicd[GICD_ICENABLER(0)], ~0U);
	/* Timer and PMU assert a level.  On some GICs this is read-only. */
	mmio_write32(&gicd[GICD_ICFGR(1)], ICFGR_LEVEL);
	mmio_write32(&gicd[GICD_ICPENDR(0)], ~0U);
	for (unsigned i = 0; i < 4; i++) /* ICPENDR does not clear SGIs */
		mmio_write32(&gicd[GICD_CPENDSGIR(i)], ~0U);
	mmio_write32(&gicd[GICD_ICACTIVER(0)], ~0U);
	for (unsigned i = 0; i < 8; i++)
		mmio_write32(
		    &gicd[GICD_IPRIORITYR(i)], GIC_PRIORITY * 0x01010101U);
	mmio_write32(&gicd[GICD_ISENABLER(0)], ALL_SGIS);
	mmio_write32(&gicc[GICC_PMR], GIC_PMR_ALL);
	mmio_write32(&gicc[GICC_CTLR], GICC_ENABLE);
	return true;
}

static void
enable(struct arm64_cpu *ac, uint32_t intid)
{
	if (intid >= GIC_SPI) {
		volatile uint8_t *target =
		    (volatile uint8_t *)&gicd[GICD_ITARGETSR(0)];
		volatile uint8_t *priority =
		    (volatile uint8_t *)&gicd[GICD_IPRIORITYR(0)];

		mmio_write8(&target[intid], (uint8_t)ac->ac_gicv2_mask);
		mmio_write8(&priority[intid], GIC_PRIORITY);
	}
	/* The registers of the first 32 are banked. */
	mmio_write32(&gicd[GICD_ISENABLER(intid / 32)], 1U << intid % 32);
}

static void
dispatch(void)
{
	uint32_t iar = mmio_read32(&gicc[GICC_IAR]);
	struct cpu *self = arch_curcpu();
	const struct arm64_cpu *ac = self->c_arch;

	self->c_interrupts++;
	if (INTID(iar) == ac->ac_pmu_intid)
		kcpc_pmi();
	else if (!gic_take(INTID(iar)))
		return;
	mmio_write32(&gicc[GICC_EOIR], iar);
}

static void
sgi(const struct arm64_cpu *to, uint32_t intid)
{
	/* The other CPU must see the stores that came before. */
	__asm__ volatile("dsb ishst" : : : "memory");
	mmio_write32(
	    &gicd[GICD_SGIR], (to->ac_gicv2_mask & 0xff) << 16 | intid);
}

const struct gic_ops gicv2_ops = {
	.init = init,
	.cpu_init = cpu_init,
	.enable = enable,
	.dispatch = dispatch,
	.sgi = sgi,
};
