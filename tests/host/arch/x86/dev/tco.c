/* A TCO timer that runs is stopped; a machine without one is not written to. */
#include "tests/lib/host/support.h"

#include <string.h>

#include "arch/x86/insn.h"
#include "arch/x86/mmio.h"
#include "arch/x86/x86.h"
#include "dev/pci/pci.h"
#include "kern/arch.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/watchdog.h"

#define LPC     PCI_FUNCTION(0, 31, 0)
#define SMBUS   PCI_FUNCTION(0, 31, 4)
#define GCS     0xfed1f410
#define HALT    0x0800
#define NMI_NOW 0x0100
#define FADT    60

static struct {
	uint32_t lpc[64], smbus[64]; /* configuration registers */
	uint32_t gcs;
	uint16_t base, control; /* the timer's ports, and TCO1_CNT */
	bool has_fadt, stuck;
	unsigned writes;
} chip;
static unsigned char fadt[FADT];
static int found;

uint32_t
pci_read(uint32_t function, unsigned reg)
{
	if (function == LPC)
		return chip.lpc[reg / 4];
	return function == SMBUS ? chip.smbus[reg / 4] : ~0U;
}

const unsigned char *
acpi_table(const char *signature, uint32_t *bytes)
{
	assert_string_equal(signature, "FACP");
	*bytes = FADT;
	return chip.has_fadt ? fadt : NULL;
}

uint32_t
acpi_u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

volatile void *
arch_map_device(uint64_t pa, size_t bytes)
{
	assert_int_equal(pa, GCS);
	assert_int_equal(bytes, 4);
	return &chip.gcs;
}

uint32_t
mmio_read32(const volatile uint32_t *reg)
{
	return *reg;
}

uint16_t
inw(uint16_t port)
{
	assert_int_equal(port, chip.base + 8);
	return chip.control;
}

/* A 1 in NMI_NOW makes an NMI, or loses one that waits. */
void
outw(uint16_t port, uint16_t v)
{
	assert_int_equal(port, chip.base + 8);
	assert_int_equal(v & NMI_NOW, 0);
	chip.writes++;
	if (!chip.stuck)
		chip.control = v;
}

void
watchdog_found(const char *kind, enum watchdog_state state)
{
	assert_string_equal(kind, "TCO");
	assert_int_equal(found, -1);
	found = (int)state;
}

/* The state found, or -1 for no timer. */
static int
state_for(uint16_t control)
{
	chip.control = control;
	chip.writes = 0;
	found = -1;
	x86_tco_init();
	return found;
}

/* Up to the 9 series: the ports are with those of power management. */
static void
start_lpc(void)
{
	uint32_t pm1a = 0x600;

	memset(&chip, 0, sizeof chip);
	memset(chip.smbus, 0xff, sizeof chip.smbus);
	chip.has_fadt = true;
	memcpy(fadt + 56, &pm1a, sizeof pm1a);
	chip.base = 0x660;
	chip.lpc[0x00 / 4] = 0x29188086;
	chip.lpc[0x08 / 4] = 0x06010002;
	chip.lpc[0x40 / 4] = 0x601;
	chip.lpc[0x44 / 4] = 0x80;
	chip.lpc[0xf0 / 4] = 0xfed1c001;
}

/* From the 100 series on: the ports are in the SMBus controller. */
static void
start_smbus(void)
{
	memset(&chip, 0, sizeof chip);
	memset(chip.lpc, 0xff, sizeof chip.lpc);
	chip.base = 0x400;
	chip.smbus[0x00 / 4] = 0xa1238086;
	chip.smbus[0x08 / 4] = 0x0c050031;
	chip.smbus[0x50 / 4] = 0x401;
	chip.smbus[0x54 / 4] = 0x100;
}

TEST(a_timer_that_runs_is_stopped)
{
	void (*const starts[])(void) = { start_lpc, start_smbus };

	for (unsigned i = 0; i < 2; i++) {
		starts[i]();
		assert_int_equal(state_for(0), WATCHDOG_STOPPED);
		assert_int_equal(chip.control, HALT);
		assert_int_equal(state_for(0x0200 | NMI_NOW), WATCHDOG_STOPPED);
		assert_int_equal(chip.control, 0x0200 | HALT);
		assert_int_equal(state_for(HALT), WATCHDOG_IDLE);
		assert_int_equal(chip.writes, 0);
		chip.stuck = true;
		assert_int_equal(state_for(0), WATCHDOG_RUNNING);
	}
}

TEST(a_timer_that_may_not_reset_is_idle)
{
	start_lpc();
	chip.gcs = 0x20;
	assert_int_equal(state_for(0), WATCHDOG_IDLE);
	assert_int_equal(chip.control, HALT);
	start_smbus();
	assert_int_equal(state_for(0x0001), WATCHDOG_IDLE);
	assert_int_equal(chip.control, 0x0001 | HALT);
}

TEST(no_timer)
{
	start_lpc();
	chip.lpc[0] = 0x29181022; /* another maker */
	assert_int_equal(state_for(0), -1);
	start_lpc();
	chip.lpc[0x40 / 4] = 0x800; /* no ports */
	assert_int_equal(state_for(0), -1);
	start_lpc();
	chip.lpc[0x40 / 4] = 0x701; /* not those of ACPI */
	assert_int_equal(state_for(0), -1);
	start_lpc();
	chip.has_fadt = false;
	assert_int_equal(state_for(0), -1);
	start_smbus();
	chip.smbus[0x54 / 4] = 0;
	assert_int_equal(state_for(0), -1);
	start_smbus();
	chip.smbus[0x50 / 4] = 0x400;
	assert_int_equal(state_for(0), -1);
	assert_int_equal(chip.writes, 0);
}
