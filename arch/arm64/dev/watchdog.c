/*
 * Stops watchdogs that firmware left running, of the kinds that the tables
 * name.
 *
 * Arm Base System Architecture (DEN 0094), "Generic Watchdog"; Arm Watchdog
 * Module (SP805) Technical Reference Manual (DDI 0270), "Programmer's Model".
 * Broadcom's manual lacks its watchdog: Linux, drivers/watchdog/bcm2835_wdt.c.
 */
#include <stddef.h>
#include <stdint.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "kern/arch.h"
#include "kern/platform/firmware/watchdog.h"

/* A watchdog runs if these bits of its control register have this value. */
static const struct kind {
	const char *name;
	unsigned control;    /* offset */
	uint32_t mask, runs; /* mask 0: its registers are not touched */
	uint32_t stop;       /* the value to write */
	unsigned lock;       /* offset of a register to unlock; 0: none */
} kinds[] = {
	/* WCS.EN. */
	[MACHINE_SBSA] = { "SBSA", 0x00, 0x1, 0x1, 0, 0 },
	/* WdogControl: INTEN and RESEN; WdogLock. */
	[MACHINE_SP805] = { "SP805", 0x08, 0x3, 0x3, 0, 0xc00 },
	/* PM_RSTC: a full reset; the password, and the value after a reset. */
	[MACHINE_BCM2835] = { "BCM2835", 0x1c, 0x30, 0x20, 0x5a000102, 0 },
	/* It has no stop, and its registers hang the bus without a clock. */
	[MACHINE_DESIGNWARE] = { "DesignWare", 0, 0, 0, 0, 0 },
};

#define UNLOCK 0x1acce551 /* the value for WdogLock; any other one locks */

static enum watchdog_state
stop(const struct kind *k, uint64_t pa)
{
	unsigned bytes = (k->lock > k->control ? k->lock : k->control) + 4;
	volatile uint8_t *regs =
	    k->mask != 0 ? arch_map_device(pa, bytes) : NULL;
	volatile uint32_t *control, *lock;

	if (regs == NULL)
		return WATCHDOG_UNKNOWN;
	control = (volatile uint32_t *)(regs + k->control);
	lock = (volatile uint32_t *)(regs + k->lock);
	if (!arm64_answers(control))
		return WATCHDOG_UNKNOWN;
	if ((mmio_read32(control) & k->mask) != k->runs)
		return WATCHDOG_IDLE;
	if (k->lock != 0)
		mmio_write32(lock, UNLOCK);
	mmio_write32(control, k->stop);
	if (k->lock != 0)
		mmio_write32(lock, 0);
	return (mmio_read32(control) & k->mask) != k->runs ? WATCHDOG_STOPPED
	                                                   : WATCHDOG_RUNNING;
}

void
arm64_watchdogs_init(void)
{
	for (unsigned i = 0; i < machine.m_nwatchdog; i++) {
		const struct machine_watchdog *wg = &machine.m_watchdog[i];
		const struct kind *k = &kinds[wg->wg_kind];

		watchdog_found(k->name, stop(k, wg->wg_pa));
	}
}
