/* The kinds of UART, and the text that names one on the command line. */
#include "dev/uart/uart.h"

#include <stddef.h>

#include "lib/string.h"

#define PORTS      0x10000
#define ALIGNMENT  4 /* of registers in memory */
#define BAUD_LIMIT 4000000

const struct uart_type uart_types[UART_KINDS] = {
	[UART_16550_IO] = { "16550-io", &ns16550_ops, 1, 0, 8 },
	[UART_16550] = { "16550", &ns16550_ops, 1, 0, 8 },
	[UART_16550_16] = { "16550-mmio16", &ns16550_ops, 2, 1, 8 },
	[UART_16550_32] = { "16550-mmio32", &ns16550_ops, 4, 2, 8 },
	[UART_BCM_AUX] = { "bcm2835-aux", &ns16550_ops, 4, 2, 8 },
	[UART_PL011] = { "pl011", &fifo_ops, 4, 0, 0x1000 },
	[UART_SBSA] = { "sbsa", &fifo_ops, 4, 0, 0x1000 },
	[UART_CADENCE] = { "cadence", &fifo_ops, 4, 0, 0x1000 },
	[UART_IMX] = { "imx", &fifo_ops, 4, 0, 0x1000 },
	[UART_LPUART] = { "lpuart", &fifo_ops, 4, 0, 0x1000 },
	[UART_MESON] = { "meson", &fifo_ops, 4, 0, 0x18 },
	[UART_ARMADA] = { "armada3700", &fifo_ops, 4, 0, 0x18 },
	[UART_SCIF] = { "scif", &scif_ops, 2, 2, 16 },
	[UART_SCIF_RZ] = { "scif-rz", &scif_ops, 2, 1, 16 },
	[UART_GENI] = { "geni", &geni_ops, 4, 0, 0x1000 },
	[UART_UARTDM] = { "uartdm", &uartdm_ops, 4, 0, 0x200 },
};

struct uart
uart_make(enum uart_kind kind, uint64_t addr)
{
	return (struct uart){
		.u_kind = kind,
		.u_addr = addr,
		.u_shift = uart_types[kind].ut_shift,
		.u_width = uart_types[kind].ut_width,
		.u_clock_hz = kind == UART_16550_IO ? UART_PC_CLOCK_HZ : 0,
	};
}

bool
uart_start(struct uart *u)
{
	const struct uart_ops *ops = uart_types[u->u_kind].ut_ops;

	if (ops == NULL || !ops->start(u))
		return false;
	u->u_ops = ops;
	return true;
}

bool
uart_has_room(const struct uart *u)
{
	return (uart_read(u, u->u_status) & u->u_mask) == u->u_room;
}

void
uart_send(const struct uart *u, unsigned char c)
{
	if (u->u_ops->send == NULL)
		uart_write(u, u->u_data, c);
	else
		u->u_ops->send(u, c);
}

int
uart_receive(const struct uart *u)
{
	return u->u_ops != NULL ? u->u_ops->receive(u) : -1;
}

unsigned
uart_bytes(const struct uart *u)
{
	return uart_types[u->u_kind].ut_bytes << u->u_shift;
}

bool
uart_fits(enum uart_kind kind, uint64_t addr)
{
	if (addr == 0)
		return false;
	return kind == UART_16550_IO ? addr <= PORTS - uart_types[kind].ut_bytes
	                             : addr % ALIGNMENT == 0;
}

/* The kind whose name is the n letters at `text`, or UART_NONE. */
static enum uart_kind
kind_of(const char *text, size_t n)
{
	for (enum uart_kind k = UART_NONE + 1; k < UART_KINDS; k++) {
		const char *name = uart_types[k].ut_name;

		if (strlen(name) == n && memcmp(name, text, n) == 0)
			return k;
	}
	return UART_NONE;
}

/* Parse a number that ends at a comma or the end.  NULL: it is bad. */
static const char *
parse_end(const char *s, int base, unsigned long *v)
{
	char *end;

	if (*s < '0' || *s > '9')
		return NULL;
	*v = strtoul(s, &end, base);
	return *end == ',' || *end == '\0' ? end : NULL;
}

const char *
uart_parse(const char *text, struct uart *u)
{
	const char *comma = strchr(text, ','), *end;
	size_t n = comma != NULL ? (size_t)(comma - text) : strlen(text);
	enum uart_kind kind = kind_of(text, n);
	unsigned long addr, baud = 0;

	if (kind == UART_NONE)
		return "no TYPE of 16550-io, 16550, 16550-mmio16, "
		       "16550-mmio32, bcm2835-aux, pl011, sbsa, cadence, imx, "
		       "lpuart, meson, armada3700, scif, scif-rz, geni, uartdm";
	if (kind == UART_16550_IO && !uart_has_ports)
		return "this machine has no I/O ports: name a UART in memory";
	if (comma == NULL || (end = parse_end(comma + 1, 0, &addr)) == NULL)
		return "not TYPE,ADDRESS[,BAUD] with an ADDRESS as 0x3f8";
	if (!uart_fits(kind, addr))
		return "a UART cannot be at this address";
	if (*end == ',') {
		end = parse_end(end + 1, 10, &baud);
		if (end == NULL || *end != '\0' || baud == 0 ||
		    baud > BAUD_LIMIT)
			return "not a BAUD of 1 to 4000000";
		if (kind < UART_16550_IO || kind > UART_16550_32)
			return "only the rate of a 16550 can be set: leave out "
			       "BAUD, and set it in the firmware";
	}
	*u = uart_make(kind, addr);
	if (baud != 0) {
		u->u_clock_hz = UART_PC_CLOCK_HZ;
		u->u_baud = (uint32_t)baud;
	}
	return NULL;
}
