/*
 * The end of a run on a Raspberry Pi, whose firmware has no PSCI.  The watchdog
 * resets the machine.  Firmware then boots the partition in PM_RSTS, or halts
 * if that is 63.
 * Broadcom's manual lacks this block.  Linux, drivers/watchdog/bcm2835_wdt.c.
 */
#include "arch/arm64/arm64.h"

#include <stddef.h>
#include <stdint.h>

#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "kern/arch.h"

#define PM_RSTC            (0x1c / 4)
#define PM_RSTC_CONFIG     0x30
#define PM_RSTC_FULL_RESET 0x20
#define PM_RSTS            (0x20 / 4)
#define PM_RSTS_PARTITION  0x555 /* bits 0, 2, 4, 6, 8, 10 */
#define PM_WDOG            (0x24 / 4)
#define PM_BYTES           0x28
#define PM_PASSWORD        0x5a000000 /* with every write */
#define PM_VALUE           0xffffff
#define TICKS              10 /* to the reset, of 1/65536 s */
#define PATIENCE_MS        100

static volatile uint32_t *pm;

void
bcm_pm_init(void)
{
	if (machine.m_bcm_pm != 0)
		pm = arch_map_device(machine.m_bcm_pm, PM_BYTES);
}

static void
change(volatile uint32_t *reg, uint32_t clear, uint32_t set)
{
	uint32_t v = mmio_read32(reg) & PM_VALUE & ~clear;

	mmio_write32(reg, PM_PASSWORD | v | set);
}

void
bcm_pm_end(bool passed)
{
	uint64_t end = arch_tick() + arch_tick_hz() / 1000 * PATIENCE_MS;

	if (pm == NULL)
		return;
	change(&pm[PM_RSTS], PM_RSTS_PARTITION, passed ? PM_RSTS_PARTITION : 0);
	mmio_write32(&pm[PM_WDOG], PM_PASSWORD | TICKS);
	change(&pm[PM_RSTC], PM_RSTC_CONFIG, PM_RSTC_FULL_RESET);
	while (arch_tick() < end)
		arch_relax();
}
