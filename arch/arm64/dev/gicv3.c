/*
 * The driver of a GICv3 or GICv4, whose CPU interface is system registers.
 * Arm Generic Interrupt Controller Architecture Specification version 3 and
 * 4 (IHI 0069), "The GIC Redistributors" and "GIC System registers";
 * "GICD_CTLR", "GICR_WAKER", "GICR_ICFGR1", "GICD_PIDR2", "GICR_PIDR2",
 * "GICD_IROUTER<n>", "GICD_IPRIORITYR<n>" (by bytes).
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/dev/gic.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"

#define GICD_BYTES        0x10000
#define GICD_CTLR         (0x0000 / 4)
#define GICD_CTLR_GROUPS  0x3U
#define GICD_CTLR_GRP1    (1U << 1)
#define GICD_CTLR_ARE     (1U << 4)
#define GICD_CTLR_RWP     (1U << 31)
#define GICD_ISENABLER(n) (0x0100 / 4 + (n))
#define GICD_IPRIORITYR   0x0400
#define GICD_IROUTER(n)   (0x6000 / 8 + (n)) /* of 64 bits */
#define GICR_CTLR         (0x0000 / 4)
#define GICR_CTLR_RWP     (1U << 3)
#define GICR_TYPER        (0x0008 / 4)
#define GICR_TYPER_VLPIS  (1U << 1)
#define GICR_TYPER_LAST   (1U << 4)
#define GICR_WAKER        (0x0014 / 4)
#define GICR_WAKER_SLEEP  (1U << 1)
#define GICR_WAKER_ASLEEP (1U << 2)
/* The same offset in the distributor and in a redistributor. */
#define PIDR2       (0xffe8 / 4)
#define PIDR2_GICV3 3 /* ArchRev, bits 7:4; 4 for GICv4 */
/* The second 64 KiB frame: SGIs and PPIs. */
#define SGI_BASE           (0x10000 / 4)
#define GICR_IGROUPR0      (SGI_BASE + 0x0080 / 4)
#define GICR_ISENABLER0    (SGI_BASE + 0x0100 / 4)
#define GICR_ICENABLER0    (SGI_BASE + 0x0180 / 4)
#define GICR_ICPENDR0      (SGI_BASE + 0x0280 / 4)
#define GICR_ICACTIVER0    (SGI_BASE + 0x0380 / 4)
#define GICR_IPRIORITYR(n) (SGI_BASE + 0x0400 / 4 + (n))
#define GICR_ICFGR1        (SGI_BASE + 0x0c04 / 4) /* PPIs */
#define ICFGR_LEVEL        0
#define FRAME_BYTES        0x20000
#define FRAME_BYTES_V4     0x40000
#define ALL_SGIS           0xffffU
#define ICC_SRE            1

static volatile uint32_t *gicd;

/*
 * ARE may change only from 0 to 1, and only while no group is enabled: all
 * else is unpredictable.
 */
static bool
init(void)
{
	gicd = arch_map_device(machine.m_gicd.r_pa, GICD_BYTES);
	if (gicd == NULL || machine.m_ngicr == 0 ||
	    FIELD(mmio_read32(&gicd[PIDR2]), 7, 4) < PIDR2_GICV3)
		return false;
	mmio_write32(&gicd[GICD_CTLR],
	    mmio_read32(&gicd[GICD_CTLR]) & ~GICD_CTLR_GROUPS);
	if (!gic_wait_clear(&gicd[GICD_CTLR], GICD_CTLR_RWP))
		return false;
	mmio_write32(
	    &gicd[GICD_CTLR], mmio_read32(&gicd[GICD_CTLR]) | GICD_CTLR_ARE);
	gic_mask_spis(gicd);
	gic_prepare_spis(gicd, true);
	if (!gic_wait_clear(&gicd[GICD_CTLR], GICD_CTLR_RWP))
		return false;
	mmio_write32(
	    &gicd[GICD_CTLR], mmio_read32(&gicd[GICD_CTLR]) | GICD_CTLR_GRP1);
	return true;
}

/* The affinity fields of MPIDR_EL1 as GICR_TYPER[63:32] packs them. */
static uint32_t
packed_affinity(uint64_t mpidr)
{
	return (uint32_t)(FIELD(mpidr, 39, 32) << 24 | FIELD(mpidr, 23, 0));
}

/* Find a CPU's redistributor in one region.  Returns NULL if it is absent. */
static volatile uint32_t *
find_in(const struct range *r, uint32_t affinity)
{
	uint64_t at = 0;

	while (at + FRAME_BYTES <= r->r_bytes) {
		volatile uint32_t *gicr =
		    arch_map_device(r->r_pa + at, FRAME_BYTES);

		/* A region may be larger than its redistributors. */
		if (gicr == NULL || !arm64_answers(gicr) ||
		    FIELD(mmio_read32(&gicr[PIDR2]), 7, 4) < PIDR2_GICV3)
			return NULL;
		uint32_t typer = mmio_read32(&gicr[GICR_TYPER]);
		if (mmio_read32(&gicr[GICR_TYPER + 1]) == affinity)
			return gicr;
		if (typer & GICR_TYPER_LAST)
			return NULL;
		at += typer & GICR_TYPER_VLPIS ? FRAME_BYTES_V4 : FRAME_BYTES;
	}
	return NULL;
}

static void
system_registers(void)
{
	write_sysreg(icc_sre_el1, ICC_SRE);
	isb();
	write_sysreg(icc_pmr_el1, GIC_PMR_ALL);
	write_sysreg(icc_ctlr_el1, 0); /* EOI drops priority and deactivates */
	write_sysreg(icc_igrpen1_el1, 1);
	isb();
}

static bool
cpu_init(struct arm64_cpu *ac)
{
	uint32_t affinity = packed_affinity(ac->ac_mpidr);
	volatile uint32_t *gicr = NULL;

	for (unsigned i = 0; i < machine.m_ngicr && gicr == NULL; i++)
		gicr = find_in(&machine.m_gicr[i], affinity);
	if (gicr == NULL)
		return false;
	ac->ac_gicr = gicr;
	mmio_write32(&gicr[GICR_WAKER],
	    mmio_read32(&gicr[GICR_WAKER]) & ~GICR_WAKER_SLEEP);
	if (!gic_wait_clear(&gicr[GICR_WAKER], GICR_WAKER_ASLEEP))
		return false;
	mmio_write32(&gicr[GICR_ICENABLER0], ~0U);
	if (!gic_wait_clear(&gicr[GICR_CTLR], GICR_CTLR_RWP))
		return false;
	/* Timer and PMU assert a level.  On some GICs this is read-only. */
	mmio_write32(&gicr[GICR_ICFGR1], ICFGR_LEVEL);
	mmio_write32(&gicr[GICR_ICPENDR0], ~0U);
	mmio_write32(&gicr[GICR_ICACTIVER0], ~0U);
	mmio_write32(&gicr[GICR_IGROUPR0], ~0U); /* group 1: ours */
	for (unsigned i = 0; i < 8; i++)
		mmio_write32(
		    &gicr[GICR_IPRIORITYR(i)], GIC_PRIORITY * 0x01010101U);
	mmio_write32(&gicr[GICR_ISENABLER0], ALL_SGIS);
	system_registers();
	return true;
}

static void
enable(struct arm64_cpu *ac, uint32_t intid)
{
	volatile uint8_t *bytes = (volatile uint8_t *)gicd;
	volatile uint64_t *longs = (volatile uint64_t *)gicd;

	if (intid < GIC_SPI) {
		mmio_write32(&ac->ac_gicr[GICR_ISENABLER0], 1U << intid);
		return;
	}
	mmio_write64(&longs[GICD_IROUTER(intid)], ac->ac_mpidr);
	mmio_write8(&bytes[GICD_IPRIORITYR + intid], GIC_PRIORITY);
	mmio_write32(&gicd[GICD_ISENABLER(intid / 32)], 1U << intid % 32);
}

static void
dispatch(void)
{
	uint32_t intid = (uint32_t)read_sysreg(icc_iar1_el1);
	struct cpu *self = arch_curcpu();
	const struct arm64_cpu *ac = self->c_arch;

	self->c_interrupts++;
	dsb(sy); /* the read acknowledges: complete it before the handler */
	if (intid == ac->ac_pmu_intid)
		kcpc_pmi();
	else if (!gic_take(intid))
		return;
	write_sysreg(icc_eoir1_el1, intid);
}

/*
 * ICC_SGI1R_EL1 names a CPU by Aff3, Aff2, Aff1, a range of 16 Aff0 values,
 * and a bit in that range.
 */
static void
sgi(const struct arm64_cpu *to, uint32_t intid)
{
	uint64_t m = to->ac_mpidr;
	uint64_t aff0 = FIELD(m, 7, 0);

	dsb(ishst); /* the other CPU must see the stores that came before */
	write_sysreg(
	    icc_sgi1r_el1, FIELD(m, 39, 32) << 48 | (aff0 >> 4) << 44 |
			       FIELD(m, 23, 16) << 32 | (uint64_t)intid << 24 |
			       FIELD(m, 15, 8) << 16 | 1ULL << (aff0 & 15));
	isb();
}

const struct gic_ops gicv3_ops = {
	.init = init,
	.cpu_init = cpu_init,
	.enable = enable,
	.dispatch = dispatch,
	.sgi = sgi,
};
