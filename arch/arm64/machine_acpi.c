/*
 * Reads the machine's description from ACPI's static tables.
 * ACPI Specification 6.4, "Multiple APIC Description Table (MADT)", "Generic
 * Timer Description Table (GTDT)", "Arm Generic Watchdog Structure", "Fixed
 * ACPI Description Table (FADT)"; Microsoft, "Serial Port Console Redirection
 * Table (SPCR)"; PCI Firmware Specification, "MCFG Table Description".
 */
#include <stddef.h>

#include "arch/arm64/machine.h"
#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/acpi_uart.h"
#include "lib/printf.h"
#include "lib/string.h"

#define HEADER_OEM     10 /* six characters; QEMU uses "BOCHS " */
#define MADT_ENTRIES   44
#define MADT_GICC      0xb
#define MADT_GICD      0xc
#define MADT_GICR      0xe
#define GICC_LENGTH    76 /* of the part read here; newer entries are longer */
#define GICD_LENGTH    24
#define GICR_LENGTH    16
#define GICC_ENABLED   1
#define SPCR_TYPE      36
#define SPCR_GAS       40 /* address 0: no console */
#define GTDT_VIRTUAL   64
#define GTDT_NTIMER    88 /* platform timers, and the first one's offset */
#define GTDT_TIMERS    92
#define TIMER_WATCHDOG 1 /* an SBSA Generic Watchdog */
#define MCFG_ENTRIES   44
#define MCFG_BYTES     16 /* address of bus 0, segment, first and last bus */
#define TIMER_LENGTH   28
#define TIMER_SECURE   4
#define FADT_ARM_FLAGS 129
#define FADT_PSCI      1
#define FADT_PSCI_HVC  2

/* Frames whose size the table does not give. */
#define GICD_BYTES       0x10000
#define GICC_BYTES       0x2000
#define GICR_FRAME_BYTES 0x20000 /* GICv3: RD_base and SGI_base */

/* A GICC entry: a CPU, its redistributor, and its PMU's interrupt. */
static void
found_gicc(const unsigned char *e, unsigned len)
{
	if (len < GICC_LENGTH || (acpi_u32(e + 12) & GICC_ENABLED) == 0)
		return;
	machine_add_cpu(acpi_u64(e + 68))->mu_pmu_intid = acpi_u32(e + 20);
	machine.m_gicc = (struct range){ acpi_u64(e + 32), GICC_BYTES };
	if (acpi_u64(e + 60) != 0)
		machine_add_gicr(acpi_u64(e + 60), GICR_FRAME_BYTES);
}

static void
found_gicd(const unsigned char *e, unsigned len)
{
	if (len < GICD_LENGTH || machine.m_ngic++ > 0)
		return;
	machine.m_gicd = (struct range){ acpi_u64(e + 8), GICD_BYTES };
	machine.m_gic = e[20] >= 3 ? 3 : e[20];
}

static void
found_entry(const unsigned char *e, unsigned len)
{
	switch (e[0]) {
	case MADT_GICC:
		found_gicc(e, len);
		break;
	case MADT_GICD:
		found_gicd(e, len);
		break;
	case MADT_GICR:
		if (len >= GICR_LENGTH && acpi_u64(e + 4) != 0)
			machine_add_gicr(acpi_u64(e + 4), acpi_u32(e + 12));
		break;
	default:
		break;
	}
}

static void
read_madt(void)
{
	uint32_t bytes;
	const unsigned char *t = acpi_table("APIC", &bytes);

	for (uint32_t at = MADT_ENTRIES; t != NULL && at + 2 <= bytes;) {
		unsigned len = t[at + 1];

		if (len < 2 || at + len > bytes)
			break;
		found_entry(t + at, len);
		at += len;
	}
	/* The field may be 0; only GICv3 has redistributors. */
	if (machine.m_gic == 0 && machine.m_gicd.r_pa != 0)
		machine.m_gic = machine.m_ngicr > 0 ? 3 : 2;
}

/* The watchdogs among the platform timers, except the Secure world's. */
static void
read_watchdogs(const unsigned char *t, uint32_t bytes)
{
	uint32_t at = acpi_u32(t + GTDT_TIMERS);

	for (uint32_t n = acpi_u32(t + GTDT_NTIMER);
	     n > 0 && at < bytes && bytes - at >= 4; n--) {
		const unsigned char *timer = t + at;
		unsigned len = timer[1] | (unsigned)timer[2] << 8;

		if (len < 4 || len > bytes - at)
			return;
		if (timer[0] == TIMER_WATCHDOG && len >= TIMER_LENGTH &&
		    (acpi_u32(timer + 24) & TIMER_SECURE) == 0)
			machine_add_watchdog(
			    MACHINE_SBSA, acpi_u64(timer + 12));
		at += len;
	}
}

/* The SPCR's UART, or else the DBG2's. */
static void
read_uart(void)
{
	uint32_t bytes;
	const unsigned char *t = acpi_table("SPCR", &bytes);

	if (acpi_uart(&machine.m_uart) == NULL && t != NULL &&
	    bytes >= SPCR_GAS + ACPI_GAS_BYTES &&
	    acpi_gas(t + SPCR_GAS).ag_addr != 0)
		snprintf(machine.m_no_driver, sizeof machine.m_no_driver,
		    "type %#x of the SPCR", t[SPCR_TYPE]);
}

bool
machine_from_acpi(const struct bootinfo *bi)
{
	uint32_t bytes;

	if (bi->bi_rsdp == 0)
		return false;
	machine.m_boot = bi;
	acpi_init(bi->bi_rsdp, machine_map);
	machine.m_tables = "ACPI";
	read_uart();
	read_madt();
	const unsigned char *t = acpi_table("GTDT", &bytes);
	if (t != NULL && bytes >= GTDT_VIRTUAL + 4)
		machine.m_timer_intid = acpi_u32(t + GTDT_VIRTUAL);
	if (t != NULL && bytes >= GTDT_TIMERS + 4)
		read_watchdogs(t, bytes);
	/* Firmware gives a serial port the CPU's address. */
	t = acpi_table("MCFG", &bytes);
	for (uint32_t at = MCFG_ENTRIES; t != NULL && at + MCFG_BYTES <= bytes;
	     at += MCFG_BYTES) {
		const unsigned char *e = t + at;

		/* Bus 0 of segment 0, which has what firmware prints on. */
		if (e[8] + e[9] + e[10] == 0)
			machine.m_pci.hb_ecam =
			    (struct range){ acpi_u64(e), (e[11] + 1UL) << 20 };
	}
	t = acpi_table("FACP", &bytes);
	machine.m_virtual =
	    t != NULL && memcmp(t + HEADER_OEM, "BOCHS ", 6) == 0;
	if (t != NULL && bytes >= FADT_ARM_FLAGS + 2 &&
	    (t[FADT_ARM_FLAGS] & FADT_PSCI) != 0)
		machine.m_psci =
		    t[FADT_ARM_FLAGS] & FADT_PSCI_HVC ? PSCI_HVC : PSCI_SMC;
	return true;
}
