/*
 * The part of the interrupt controller that both versions share: choosing the
 * driver, and calling the handler of an interrupt.
 * Arm Generic Interrupt Controller Architecture Specification, version 2
 * (IHI 0048) and versions 3 and 4 (IHI 0069), "GICD_TYPER",
 * "GICD_ICENABLER<n>", "GICD_IGROUPR<n>", "GICD_ICFGR<n>".
 */
#include "arch/arm64/dev/gic.h"

#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"

#define GICD_TYPER        (0x004 / 4) /* bits 4:0: groups of 32 SPIs */
#define GICD_IGROUPR(n)   (0x080 / 4 + (n))
#define GICD_ICENABLER(n) (0x180 / 4 + (n))
#define GICD_ICFGR(n)     (0xc00 / 4 + (n)) /* two bits for each; 0: level */

static const struct gic_ops *gic;
void (*gic_dispatch)(void);

void
gic_mask_spis(volatile uint32_t *gicd)
{
	unsigned groups = FIELD(mmio_read32(&gicd[GICD_TYPER]), 4, 0);

	for (unsigned n = 1; n <= groups; n++)
		mmio_write32(&gicd[GICD_ICENABLER(n)], ~0U);
}

static void
prepare_spi(volatile uint32_t *gicd, uint32_t intid, bool group)
{
	volatile uint32_t *config = &gicd[GICD_ICFGR(intid / 16)];
	volatile uint32_t *groups = &gicd[GICD_IGROUPR(intid / 32)];

	mmio_write32(config, mmio_read32(config) & ~(3U << intid % 16 * 2));
	if (group)
		mmio_write32(groups, mmio_read32(groups) | 1U << intid % 32);
}

void
gic_prepare_spis(volatile uint32_t *gicd, bool group)
{
	for (unsigned i = 0; i < machine_ncpu(); i++) {
		if (machine.m_cpu[i].mu_pmu_intid >= GIC_SPI)
			prepare_spi(gicd, machine.m_cpu[i].mu_pmu_intid, group);
	}
}

bool
gic_wait_clear(const volatile uint32_t *reg, uint32_t bit)
{
	uint64_t end = arch_tick() + arch_tick_hz();

	while ((mmio_read32(reg) & bit) != 0) {
		if (arch_tick() > end)
			return false;
		arch_relax();
	}
	return true;
}

void
gic_init(void)
{
	if (machine.m_gic == 3)
		gic = &gicv3_ops;
	else if (machine.m_gic == 2)
		gic = &gicv2_ops;
	if (gic != NULL && !arm64_answers(arch_map_device(
			       machine.m_gicd.r_pa, machine.m_gicd.r_bytes)))
		panic("cpu: nothing answers at %#lx, where the %s has the "
		      "GIC's distributor: correct the table",
		    (unsigned long)machine.m_gicd.r_pa, machine.m_tables);
	if (gic == NULL || !gic->init())
		panic("cpu: no GIC of version 2 or 3 in the %s",
		    machine.m_tables);
	gic_dispatch = gic->dispatch;
	printf("cpu: GICv%u at %#lx\n", machine.m_gic,
	    (unsigned long)machine.m_gicd.r_pa);
}

void
gic_cpu_init(void)
{
	struct arm64_cpu *ac = arm64_curcpu();

	if (!gic->cpu_init(ac))
		panic("cpu: no working GIC redistributor for MPIDR %#lx",
		    (unsigned long)ac->ac_mpidr);
}

void
gic_enable(uint32_t intid)
{
	gic->enable(arm64_curcpu(), intid);
}

void
arch_ipi(struct cpu *cpu, unsigned why)
{
	ASSERT(why < GIC_NSGI);
	gic->sgi(cpu->c_arch, why);
}

bool
gic_take(uint32_t intid)
{
	if (intid < GIC_NSGI)
		ipi_intr(intid);
	else if (intid == machine.m_timer_intid)
		arm64_timer_intr();
	return intid - GIC_SPURIOUS >= GIC_NSPECIAL;
}
