/*
 * The clocks of known rate: HPET, ACPI's power management timer, the 8254 PIT.
 * The best one for a measurement comes first.
 */
#include "arch/x86/dev/refclock.h"

#include <stdbool.h>
#include <stddef.h>

#include "arch/x86/insn.h"
#include "arch/x86/mmio.h"
#include "kern/arch.h"
#include "kern/platform/firmware/acpi.h"

/* A clock does not run if so many readings show the same value. */
#define PATIENCE 2000

/*
 * HPET.  IA-PC HPET Specification, "Register Model", "The HPET ACPI
 * Description Table".
 */
#define HPET_TABLE_ADDR 44
#define HPET_TABLE_MIN  52
#define HPET_PERIOD     0x04 /* femtoseconds */
#define HPET_CONFIG     0x10
#define HPET_ENABLE     0x1
#define HPET_COUNTER    0xf0
#define HPET_BYTES      1024
#define HPET_PERIOD_MAX 100000000
#define FS_PER_S        1000000000000000ULL

static volatile uint32_t *hpet;

static uint64_t
hpet_read(void)
{
	return mmio_read32(&hpet[HPET_COUNTER / 4]);
}

static bool
hpet_find(struct refclock *rc)
{
	uint32_t n, period;
	const unsigned char *t = acpi_table("HPET", &n);

	if (t == NULL || n < HPET_TABLE_MIN)
		return false;
	hpet = arch_map_device(acpi_u64(t + HPET_TABLE_ADDR), HPET_BYTES);
	if (hpet == NULL)
		return false;
	period = mmio_read32(&hpet[HPET_PERIOD / 4]);
	if (period == 0 || period > HPET_PERIOD_MAX)
		return false;
	mmio_write32(&hpet[HPET_CONFIG / 4],
	    mmio_read32(&hpet[HPET_CONFIG / 4]) | HPET_ENABLE);
	*rc = (struct refclock){ "HPET", FS_PER_S / period, 0xffffffff, 200,
		hpet_read };
	return true;
}

/*
 * The PM timer: 24 or 32 bits at 3.579545 MHz.
 * ACPI Specification 6.4, "Power Management Timer", "Fixed ACPI Description
 * Table (FADT)".
 */
#define FADT_PM_TMR 76
#define FADT_FLAGS  112
#define FADT_MIN    116
#define FADT_TMR_32 (1u << 8)
#define PM_TIMER_HZ 3579545

static uint16_t pm_port;

static uint64_t
pm_read(void)
{
	return inl(pm_port);
}

static bool
pm_find(struct refclock *rc)
{
	uint32_t n;
	const unsigned char *t = acpi_table("FACP", &n);

	if (t == NULL || n < FADT_MIN || acpi_u32(t + FADT_PM_TMR) == 0)
		return false;
	pm_port = (uint16_t)acpi_u32(t + FADT_PM_TMR);
	bool wide = (acpi_u32(t + FADT_FLAGS) & FADT_TMR_32) != 0;
	*rc = (struct refclock){ "the ACPI PM timer", PM_TIMER_HZ,
		wide ? 0xffffffff : 0xffffff, 100, pm_read };
	return true;
}

/*
 * Counter 2 of the 8254.  Bit 0 of port 61H is its gate.  Its output, the
 * speaker, stays off.  In mode 2 it counts down, and starts again at the end.
 * Intel 8254, "Programming the 8254".
 */
#define PIT_HZ       1193182
#define PIT_COUNTER2 0x42
#define PIT_CONTROL  0x43
#define PIT_MODE2    0xb4 /* counter 2, two bytes, mode 2 */
#define PIT_LATCH2   0x80
#define PORT_61      0x61
#define GATE2        0x01
#define SPEAKER      0x02

static uint64_t
pit_read(void)
{
	unsigned lo;

	outb(PIT_CONTROL, PIT_LATCH2);
	lo = inb(PIT_COUNTER2);
	return 0x10000 - (lo | (unsigned)inb(PIT_COUNTER2) << 8);
}

static bool
pit_find(struct refclock *rc)
{
	outb(PORT_61, (uint8_t)((inb(PORT_61) & ~SPEAKER) | GATE2));
	outb(PIT_CONTROL, PIT_MODE2);
	outb(PIT_COUNTER2, 0);
	outb(PIT_COUNTER2, 0);
	*rc = (struct refclock){ "the PIT", PIT_HZ, 0xffff, 100, pit_read };
	return true;
}

static bool
clock_runs(const struct refclock *rc)
{
	uint64_t first = rc->read();

	for (unsigned i = 0; i < PATIENCE; i++) {
		if (((rc->read() - first) & rc->mask) != 0)
			return true;
		arch_relax();
	}
	return false;
}

unsigned
x86_refclock_find(struct refclock rc[REFCLOCKS])
{
	static bool (*const find[])(
	    struct refclock *) = { hpet_find, pm_find, pit_find };
	unsigned n = 0;

	for (size_t i = 0; i < sizeof find / sizeof find[0]; i++) {
		if (n < REFCLOCKS && find[i](&rc[n]) && clock_runs(&rc[n]))
			n++;
	}
	return n;
}
