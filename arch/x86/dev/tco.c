/*
 * Stops the TCO timer, the watchdog of Intel's chipsets, if firmware left it
 * running.
 *
 * Intel I/O Controller Hub 9 (ICH9) Family Datasheet (316972), "LPC Interface
 * Bridge Registers (D31:F0)", "System Management TCO Registers", "GCS - General
 * Control and Status Register"; Intel 100 Series Chipset Family PCH Datasheet,
 * Volume 2 (332691), "SMBus Interface": the ports are in the SMBus controller
 * from this chipset on; Intel 300 Series Chipset Family PCH Datasheet, Volume 2
 * (337348), "TCO1 Control Register" (NO_REBOOT).
 */
#include <stddef.h>

#include "arch/x86/insn.h"
#include "arch/x86/mmio.h"
#include "arch/x86/x86.h"
#include "dev/pci/pci.h"
#include "kern/arch.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/watchdog.h"

#define INTEL 0x8086

#define LPC           PCI_FUNCTION(0, 31, 0)
#define LPC_CLASS     0x0601
#define PMBASE        0x40
#define PMBASE_BITS   0xff80
#define ACPI_CNTL     0x44
#define ACPI_EN       (1U << 7)
#define TCO_OFFSET    0x60 /* from PMBASE */
#define RCBA          0xf0
#define RCBA_BITS     0xffffc000
#define GCS           0x3410
#define GCS_NO_REBOOT (1U << 5)
#define BASE_ENABLED  (1U << 0) /* of PMBASE, RCBA and TCOBASE */

#define SMBUS        PCI_FUNCTION(0, 31, 4)
#define SMBUS_CLASS  0x0c05
#define TCOBASE      0x50
#define TCOBASE_BITS 0xffe0
#define TCOCTL       0x54
#define TCOCTL_EN    (1U << 8)

#define TCO1_CNT      0x8
#define TCO_NO_REBOOT (1U << 0) /* from the 300 series on, before it 0 */
#define TCO_NMI_NOW   (1U << 8) /* a 1 that is written has an effect */
#define TCO_TMR_HALT  (1U << 11)

#define FADT_PM1A_EVT 56

static bool
is_intel(uint32_t function, uint32_t class)
{
	return (pci_read(function, PCI_ID) & 0xffff) == INTEL &&
	       pci_read(function, PCI_CLASS) >> 16 == class;
}

/*
 * The ports of chipsets before the 100 series, or 0.  PMBASE is what it seems
 * to be only if ACPI has the same ports.
 */
static uint32_t
ports_by_lpc(void)
{
	uint32_t bytes, base;
	const unsigned char *fadt = acpi_table("FACP", &bytes);

	if (fadt == NULL || bytes < FADT_PM1A_EVT + 4 ||
	    !is_intel(LPC, LPC_CLASS) ||
	    (pci_read(LPC, ACPI_CNTL) & ACPI_EN) == 0)
		return 0;
	base = pci_read(LPC, PMBASE);
	if ((base & BASE_ENABLED) == 0 ||
	    (base & PMBASE_BITS) != acpi_u32(fadt + FADT_PM1A_EVT))
		return 0;
	return (base & PMBASE_BITS) + TCO_OFFSET;
}

static uint32_t
ports_by_smbus(void)
{
	if (!is_intel(SMBUS, SMBUS_CLASS) ||
	    (pci_read(SMBUS, TCOCTL) & TCOCTL_EN) == 0)
		return 0;
	uint32_t base = pci_read(SMBUS, TCOBASE);
	return (base & BASE_ENABLED) != 0 ? base & TCOBASE_BITS : 0;
}

/*
 * Could the timer reset the machine?  A strap or firmware may forbid that.
 * Without RCBA no firmware has set the chipset up, so none started the timer.
 */
static bool
could_reset(void)
{
	uint32_t rcba = pci_read(LPC, RCBA);
	const volatile uint32_t *gcs;

	if ((rcba & BASE_ENABLED) == 0)
		return false;
	gcs = arch_map_device((rcba & RCBA_BITS) + GCS, sizeof(uint32_t));
	return gcs == NULL || (mmio_read32(gcs) & GCS_NO_REBOOT) == 0;
}

void
x86_tco_init(void)
{
	uint32_t lpc = ports_by_lpc(), base = lpc != 0 ? lpc : ports_by_smbus();
	uint16_t control = (uint16_t)(base + TCO1_CNT), v;

	if (base == 0)
		return;
	v = inw(control);
	bool resets = lpc != 0 ? could_reset() : (v & TCO_NO_REBOOT) == 0;
	if ((v & TCO_TMR_HALT) != 0) {
		watchdog_found("TCO", WATCHDOG_IDLE);
		return;
	}
	/* A timer that cannot reset the machine may make an SMI. */
	outw(control, (uint16_t)((v & ~TCO_NMI_NOW) | TCO_TMR_HALT));
	if (!resets)
		watchdog_found("TCO", WATCHDOG_IDLE);
	else
		watchdog_found("TCO", (inw(control) & TCO_TMR_HALT) != 0
					  ? WATCHDOG_STOPPED
					  : WATCHDOG_RUNNING);
}
