/* A watchdog of the tables that runs is stopped by its own register alone. */
#include "tests/lib/host/support.h"

#include <string.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "kern/platform/firmware/watchdog.h"

#define BASE 0x2a440000

struct machine machine;

static struct {
	uint32_t reg[0x1000 / 4];
	unsigned control; /* offset of the control register */
	bool is_sp805, unlocked, stuck, faults;
	unsigned accesses, writes;
} dev;
static int state_found;

static unsigned
offset_of(const volatile uint32_t *reg)
{
	return (unsigned)((const volatile char *)reg - (char *)dev.reg);
}

uint32_t
mmio_read32(const volatile uint32_t *reg)
{
	dev.accesses++;
	return *reg;
}

void
mmio_write32(volatile uint32_t *reg, uint32_t v)
{
	dev.accesses++;
	if (dev.is_sp805 && offset_of(reg) == 0xc00) {
		dev.unlocked = v == 0x1acce551;
		return;
	}
	assert_int_equal(offset_of(reg), dev.control);
	dev.writes++;
	if (!dev.stuck && (!dev.is_sp805 || dev.unlocked))
		*reg = v;
}

volatile void *
arch_map_device(uint64_t pa, size_t bytes)
{
	assert_int_equal(pa, BASE);
	assert_true(bytes <= sizeof dev.reg);
	return dev.reg;
}

bool
arm64_answers(const volatile uint32_t *reg)
{
	dev.accesses++;
	return !dev.faults;
}

void
watchdog_found(const char *kind, enum watchdog_state s)
{
	assert_non_null(kind);
	state_found = (int)s;
}

/* The state that is found for this value of the control register. */
static int
found(enum machine_watchdog_kind kind, unsigned control, uint32_t value)
{
	bool stuck = dev.stuck, faults = dev.faults;

	memset(&dev, 0, sizeof dev);
	dev.stuck = stuck;
	dev.faults = faults;
	dev.control = control;
	dev.is_sp805 = kind == MACHINE_SP805;
	dev.reg[control / 4] = value;
	machine.m_nwatchdog = 1;
	machine.m_watchdog[0] = (struct machine_watchdog){ kind, BASE };
	state_found = -1;
	arm64_watchdogs_init();
	assert_false(dev.unlocked); /* SP805: locked again */
	return state_found;
}

TEST(each_kind_is_stopped)
{
	assert_int_equal(found(MACHINE_SBSA, 0, 1), WATCHDOG_STOPPED);
	assert_int_equal(dev.reg[0], 0);
	assert_int_equal(found(MACHINE_SP805, 8, 3), WATCHDOG_STOPPED);
	assert_int_equal(dev.reg[2], 0);
	assert_int_equal(found(MACHINE_BCM2835, 0x1c, 0x122), WATCHDOG_STOPPED);
	assert_int_equal(dev.reg[0x1c / 4], 0x5a000102);
}

/* An interrupt alone does no harm; nor does a timer that stands still. */
TEST(an_idle_one_is_not_written)
{
	static const struct {
		enum machine_watchdog_kind kind;
		unsigned control;
		uint32_t value;
	} cases[] = {
		{ MACHINE_SBSA, 0, 0 },
		{ MACHINE_SP805, 8, 0 },
		{ MACHINE_SP805, 8, 1 },
		{ MACHINE_SP805, 8, 2 },
		{ MACHINE_BCM2835, 0x1c, 0x102 },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(
		    found(cases[i].kind, cases[i].control, cases[i].value),
		    WATCHDOG_IDLE);
		assert_int_equal(dev.writes, 0);
	}
}

TEST(what_cannot_be_stopped_is_reported)
{
	dev.stuck = true;
	assert_int_equal(found(MACHINE_SBSA, 0, 1), WATCHDOG_RUNNING);
	assert_int_equal(found(MACHINE_SP805, 8, 3), WATCHDOG_RUNNING);
	dev.stuck = false;
	dev.faults = true;
	assert_int_equal(found(MACHINE_SBSA, 0, 1), WATCHDOG_UNKNOWN);
	assert_int_equal(dev.writes, 0);
	dev.faults = false;
	assert_int_equal(found(MACHINE_DESIGNWARE, 0, 1), WATCHDOG_UNKNOWN);
	assert_int_equal(dev.accesses, 0);
}
