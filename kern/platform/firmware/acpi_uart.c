/*
 * The console's UART in ACPI's tables: the SPCR names the console, and the DBG2
 * the debugger's ports, of which one serves as well.
 *
 * Microsoft, "Serial Port Console Redirection Table (SPCR)"; Microsoft Debug
 * Port Table 2 (DBG2), "Debug Device Information structure".
 */
#include "kern/platform/firmware/acpi_uart.h"

#include <stddef.h>

#include "kern/platform/firmware/acpi.h"

#define SPCR_REVISION 8
#define SPCR_TYPE     36
#define SPCR_GAS      40
#define SPCR_SPEED    58
#define SPCR_CLOCK    76 /* Hz; from revision 3 on */
#define SPCR_BAUD     80 /* from revision 4 on */
#define SPCR_MIN      80

#define DBG2_OFFSET 36 /* of the first device */
#define DBG2_COUNT  40
#define DBG2_MIN    44
/* A device. */
#define PORT_LENGTH  1
#define PORT_NGAS    3
#define PORT_TYPE    12
#define PORT_SUBTYPE 14
#define PORT_GAS_AT  18
#define PORT_MIN     22
#define TYPE_SERIAL  0x8000

/*
 * The interface types of the SPCR, which are also the serial subtypes of the
 * DBG2.  The other types have no driver.
 */
static enum uart_kind
kind_of(unsigned type)
{
	switch (type) {
	case 0x00: /* 16550 */
	case 0x01: /* 16450 */
	case 0x05: /* Nvidia's 16550 */
	case 0x12: /* 16550, registers as the GAS says */
	case 0x14: /* Intel LPSS */
		return UART_16550;
	case 0x03:
		return UART_PL011;
	case 0x09: /* MSM8974 */
		return UART_UARTDM;
	case 0x0c: /* i.MX6 */
		return UART_IMX;
	case 0x0d: /* SBSA, accesses of 32 bits only */
	case 0x0e:
		return UART_SBSA;
	case 0x10:
		return UART_BCM_AUX;
	case 0x11: /* SDM845, at two clocks */
	case 0x13:
		return UART_GENI;
	default:
		return UART_NONE;
	}
}

/* Fill in the UART of this type and address.  False if it has no driver. */
static bool
describe_uart(struct uart *u, unsigned type, const unsigned char *gas)
{
	struct acpi_gas g = acpi_gas(gas);
	enum uart_kind kind = kind_of(type);
	bool port = g.ag_space == ACPI_GAS_IO;

	if (port && kind == UART_16550)
		kind = UART_16550_IO;
	/* Address 0: redirection is off. */
	if (kind == UART_NONE || !uart_fits(kind, g.ag_addr) ||
	    (port && (kind != UART_16550_IO || !uart_has_ports)) ||
	    (!port && g.ag_space != ACPI_GAS_MEMORY))
		return false;
	*u = uart_make(kind, g.ag_addr);
	if (kind == UART_16550) {
		unsigned stride = g.ag_bits / 8;

		u->u_shift = stride >= 4 ? 2 : stride >= 2 ? 1 : 0;
		/* The access size is 1 for a byte, 2 for a word, and so on. */
		if (g.ag_access == ACPI_GAS_DWORD && stride >= 4)
			u->u_width = 4;
		else if (g.ag_access == ACPI_GAS_WORD && stride >= 2)
			u->u_width = 2;
	}
	return true;
}

/* The rate of the SPCR, or 0: as it is. */
static uint32_t
rate_of(const unsigned char *t, uint32_t bytes)
{
	static const uint32_t rates[] = { 0, 0, 0, 9600, 19200, 0, 57600,
		115200 };
	unsigned code = t[SPCR_SPEED];

	if (t[SPCR_REVISION] >= 4 && bytes >= SPCR_BAUD + 4 &&
	    acpi_u32(t + SPCR_BAUD) != 0)
		return acpi_u32(t + SPCR_BAUD);
	return code < sizeof rates / sizeof rates[0] ? rates[code] : 0;
}

static bool
read_spcr(struct uart *u)
{
	uint32_t bytes;
	const unsigned char *t = acpi_table("SPCR", &bytes);

	if (t == NULL || bytes < SPCR_MIN ||
	    !describe_uart(u, t[SPCR_TYPE], t + SPCR_GAS))
		return false;
	if (t[SPCR_REVISION] >= 3 && acpi_u32(t + SPCR_CLOCK) != 0)
		u->u_clock_hz = acpi_u32(t + SPCR_CLOCK);
	/* Without a clock the rate remains as firmware set it. */
	if (u->u_clock_hz != 0)
		u->u_baud = rate_of(t, bytes);
	return true;
}

static unsigned
read_u16(const unsigned char *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

static bool
read_dbg2(struct uart *u)
{
	uint32_t bytes, at, count;
	const unsigned char *t = acpi_table("DBG2", &bytes);

	if (t == NULL || bytes < DBG2_MIN)
		return false;
	at = acpi_u32(t + DBG2_OFFSET);
	count = acpi_u32(t + DBG2_COUNT);
	for (; count > 0 && at <= bytes && bytes - at >= PORT_MIN; count--) {
		const unsigned char *port = t + at;
		unsigned length = read_u16(port + PORT_LENGTH);
		unsigned gas = read_u16(port + PORT_GAS_AT);

		if (length < PORT_MIN || length > bytes - at)
			return false;
		if (read_u16(port + PORT_TYPE) == TYPE_SERIAL &&
		    port[PORT_NGAS] > 0 && gas + ACPI_GAS_BYTES <= length &&
		    describe_uart(u, read_u16(port + PORT_SUBTYPE), port + gas))
			return true;
		at += length;
	}
	return false;
}

const char *
acpi_uart(struct uart *u)
{
	return read_spcr(u) ? "SPCR" : read_dbg2(u) ? "DBG2" : NULL;
}
