/*
 * The end of the run: report the status to the host, and stop the other CPUs.
 * Then power off, or reset after a run that failed.
 *
 * ACPI Specification 6.4, "Fixed ACPI Description Table (FADT)", "PM1 Control
 * Registers", "Sleep Control and Status Registers", "Reset Register", "_Sx
 * (System States)".
 */
#include <stdbool.h>
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/insn.h"
#include "arch/x86/mmio.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/efirt.h"
#include "kern/platform/results/fb_console.h"
#include "kern/platform/results/keep.h"
#include "kern/platform/run_end.h"
#include "kern/sched/cpu.h"
#include "lib/string.h"

#define FADT_DSDT        40
#define FADT_SMI_CMD     48
#define FADT_ACPI_ENABLE 52
#define FADT_PM1A_CNT    64
#define FADT_PM1B_CNT    68
#define FADT_FLAGS       112
#define FADT_RESET_REG   116
#define FADT_RESET_VALUE 128
#define FADT_X_DSDT      140
#define FADT_X_PM1A_CNT  172
#define FADT_X_PM1B_CNT  184
#define FADT_SLEEP_CTRL  244
#define FADT_RESET_SUP   (1u << 10)
#define FADT_HW_REDUCED  (1u << 20)

#define PM1_SCI_EN     0x0001
#define PM1_SLP_TYP(t) ((uint16_t)(((t)&7) << 10))
#define PM1_SLP_EN     0x2000
#define SLEEP_TYP(t)   ((uint8_t)((t) << 2))
#define SLEEP_EN       0x20

/* AML bytes.  ACPI Specification 6.4, "ACPI Machine Language". */
#define AML_ZERO    0x00
#define AML_ONE     0x01
#define AML_BYTE    0x0a
#define AML_PACKAGE 0x12

/*
 * The keyboard controller pulses the reset line.  IBM PC/AT Technical
 * Reference, "Keyboard Controller": command FEH.
 */
#define KEYBOARD_COMMAND 0x64
#define KEYBOARD_RESET   0xfe

#define PATIENCE 1000000

/* A register of a byte; both are 0 without one. */
struct reg {
	uint16_t port;
	volatile uint8_t *at;
};

/* How to power off.  Read at boot, so that a panic can use it. */
static struct {
	bool known;
	uint8_t typ_a, typ_b;
	uint16_t pm1a, pm1b; /* ports, or 0 */
	uint16_t smi_cmd;
	uint8_t acpi_enable;
	struct reg sleep;
} off;

static struct reg reset;
static uint8_t reset_value;

static bool halting;

/* Read a small constant of AML, and move *p after it. */
static bool
aml_byte(const unsigned char **p, const unsigned char *end, uint8_t *v)
{
	if (*p >= end)
		return false;
	if (**p == AML_ZERO || **p == AML_ONE) {
		*v = *(*p)++;
		return true;
	}
	if (**p != AML_BYTE || end - *p < 2)
		return false;
	*v = (*p)[1];
	*p += 2;
	return true;
}

/*
 * Find the values for S5 without an interpreter.  Every AML compiler encodes
 * `Name (\_S5_, Package () { a, b, ... })` in the same bytes.
 */
static bool
find_s5(const unsigned char *dsdt, uint32_t n)
{
	const unsigned char *end = dsdt + n;

	for (const unsigned char *p = dsdt; end - p > 8; p++) {
		const unsigned char *q = p + 4;

		if (memcmp(p, "_S5_", 4) != 0 || *q != AML_PACKAGE)
			continue;
		q += 2 + (q[1] >> 6); /* PkgLength: 1 to 4 bytes */
		q += 1;               /* NumElements */
		if (q < end && aml_byte(&q, end, &off.typ_a)) {
			if (!aml_byte(&q, end, &off.typ_b))
				off.typ_b = off.typ_a;
			return true;
		}
	}
	return false;
}

/* The port in the 64-bit field, or else in the old 32-bit field. */
static uint16_t
port_of(const unsigned char *fadt, uint32_t n, uint32_t x, uint32_t old)
{
	if (n >= x + ACPI_GAS_BYTES) {
		struct acpi_gas g = acpi_gas(fadt + x);

		if (g.ag_space == ACPI_GAS_IO && g.ag_addr != 0)
			return (uint16_t)g.ag_addr;
	}
	return (uint16_t)acpi_u32(fadt + old);
}

static struct reg
find_reg(const unsigned char *gas)
{
	struct acpi_gas g = acpi_gas(gas);
	struct reg r = { 0, NULL };

	if (g.ag_space == ACPI_GAS_IO)
		r.port = (uint16_t)g.ag_addr;
	else if (g.ag_space == ACPI_GAS_MEMORY && g.ag_addr != 0)
		r.at = arch_map_device(g.ag_addr, 1);
	return r;
}

/* Returns false if the register is absent. */
static bool
write_reg(const struct reg *r, uint8_t v)
{
	if (r->at != NULL)
		mmio_write8(r->at, v);
	else if (r->port != 0)
		outb(r->port, v);
	return r->at != NULL || r->port != 0;
}

static bool
learn_registers(const unsigned char *fadt, uint32_t n)
{
	if ((acpi_u32(fadt + FADT_FLAGS) & FADT_HW_REDUCED) != 0) {
		if (n < FADT_SLEEP_CTRL + ACPI_GAS_BYTES)
			return false;
		off.sleep = find_reg(fadt + FADT_SLEEP_CTRL);
		return off.sleep.port != 0 || off.sleep.at != NULL;
	}
	off.pm1a = port_of(fadt, n, FADT_X_PM1A_CNT, FADT_PM1A_CNT);
	off.pm1b = port_of(fadt, n, FADT_X_PM1B_CNT, FADT_PM1B_CNT);
	off.smi_cmd = (uint16_t)acpi_u32(fadt + FADT_SMI_CMD);
	off.acpi_enable = fadt[FADT_ACPI_ENABLE];
	return off.pm1a != 0;
}

void
x86_halt_init(void)
{
	uint32_t n, dsdt_bytes;
	const unsigned char *fadt = acpi_table("FACP", &n), *dsdt = NULL;

	if (fadt == NULL || n < FADT_FLAGS + 4)
		return;
	if (n > FADT_RESET_VALUE &&
	    (acpi_u32(fadt + FADT_FLAGS) & FADT_RESET_SUP) != 0) {
		reset = find_reg(fadt + FADT_RESET_REG);
		reset_value = fadt[FADT_RESET_VALUE];
	}
	if (n >= FADT_X_DSDT + 8)
		dsdt = acpi_table_at(
		    acpi_u64(fadt + FADT_X_DSDT), "DSDT", &dsdt_bytes);
	if (dsdt == NULL)
		dsdt = acpi_table_at(
		    acpi_u32(fadt + FADT_DSDT), "DSDT", &dsdt_bytes);
	off.known = dsdt != NULL && find_s5(dsdt, dsdt_bytes) &&
	            learn_registers(fadt, n);
}

/* Ask the firmware for the registers, if it still has them. */
static void
enable_acpi(void)
{
	if (off.smi_cmd == 0 || off.acpi_enable == 0 ||
	    (inw(off.pm1a) & PM1_SCI_EN) != 0)
		return;
	outb(off.smi_cmd, off.acpi_enable);
	for (unsigned i = 0; i < PATIENCE; i++)
		if ((inw(off.pm1a) & PM1_SCI_EN) != 0)
			return;
}

/* Keep the other bits, such as SCI_EN.  ACPI, "PM1 Control Registers". */
static void
pm1_sleep(uint16_t port, uint8_t typ)
{
	uint16_t rest = inw(port) & (uint16_t) ~(PM1_SLP_TYP(7) | PM1_SLP_EN);

	outw(port, rest | PM1_SLP_TYP(typ) | PM1_SLP_EN);
}

/* Power-off and reset take a moment. */
static void
wait_for_end(void)
{
	for (unsigned i = 0; i < PATIENCE; i++)
		arch_relax();
}

static void
power_off(void)
{
	if (!off.known)
		return;
	if (!write_reg(&off.sleep, SLEEP_TYP(off.typ_a) | SLEEP_EN)) {
		enable_acpi();
		pm1_sleep(off.pm1a, off.typ_a);
		if (off.pm1b != 0)
			pm1_sleep(off.pm1b, off.typ_b);
	}
	wait_for_end();
}

bool
x86_halt_requested(void)
{
	return __atomic_load_n(&halting, __ATOMIC_ACQUIRE);
}

void
x86_stop(void)
{
	for (;;)
		__asm__ volatile("cli; hlt");
}

/*
 * A fault without an interrupt descriptor table resets the processor.
 * Intel SDM vol. 3A, "Interrupt 8 - Double Fault Exception (#DF)".
 */
static _Noreturn void
triple_fault(void)
{
	static const struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) no_idt;

	__asm__ volatile("lidt %0; ud2" : : "m"(no_idt));
	x86_stop();
}

void
arch_halt(bool passed)
{
	arch_intr_disable();
	if (!__atomic_exchange_n(&halting, true, __ATOMIC_ACQ_REL)) {
		/* A panic may come before the console is chosen. */
		console_init();
		outb(DEBUG_EXIT, passed ? HALT_PASS : HALT_FAIL);
		if (ncpu > 1)
			x86_apic_send(0,
			    APIC_ICR_OTHERS | APIC_ICR_ASSERT | APIC_ICR_NMI);
		fbcons_linger();
		if (keep_restart())
			passed = false; /* a reset, not power off */
		else
			passed |= run_powers_off;
		if (passed)
			power_off();
		else if (write_reg(&reset, reset_value))
			wait_for_end();
		efi_end(passed);
		/*
		 * Metal keeps the result on its screen.  A hypervisor without
		 * ACPI (Firecracker, kvmtool) ends at a reset.
		 */
		if (x86_features.hypervised) {
			outb(KEYBOARD_COMMAND, KEYBOARD_RESET);
			wait_for_end();
		}
		if (!passed || x86_features.hypervised)
			triple_fault();
	}
	x86_stop();
}
