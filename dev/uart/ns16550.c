/*
 * The 16550 and its relatives: in ports or in memory, with registers of 8, 16
 * or 32 bits, near or far from each other.  Frames are 8N1.
 *
 * National Semiconductor PC16550D, "Registers"; Broadcom, BCM2835 ARM
 * Peripherals, "Mini UART"; Synopsys DesignWare DW_apb_uart Databook, "LCR":
 * DW_apb_uart ignores a write of the LCR while it is busy, and a character that
 * waits to be read keeps it busy.
 */
#include "dev/uart/uart.h"

#include <stddef.h>

#define UART_DATA 0 /* with DLAB: divisor, low */
#define UART_IER  1 /* with DLAB: divisor, high */
#define UART_FCR  2
#define UART_LCR  3
#define UART_MCR  4
#define UART_LSR  5
#define UART_SCR  7

#define LCR_8N1     0x03 /* and DLAB clear: registers 0 and 1 are these */
#define LCR_DLAB    0x80
#define FCR_ENABLE  0x07 /* and clear both FIFOs */
#define MCR_DTR_RTS 0x03
#define LSR_DR      0x01
#define LSR_THRE    0x20

#define LCR_TRIES 1000

static uint8_t
reg_read(const struct uart *u, unsigned r)
{
	return (uint8_t)uart_read(u, r << u->u_shift);
}

static void
reg_write(const struct uart *u, unsigned r, uint8_t v)
{
	uart_write(u, r << u->u_shift, v);
}

/* The scratch register keeps both values; no other device's would. */
static bool
has_scratch(const struct uart *u)
{
	reg_write(u, UART_SCR, 0x5a);
	if (reg_read(u, UART_SCR) != 0x5a)
		return false;
	reg_write(u, UART_SCR, 0xa5);
	return reg_read(u, UART_SCR) == 0xa5;
}

/* Returns false if the register keeps another value. */
static bool
set_lcr(const struct uart *u, uint8_t v)
{
	for (unsigned i = 0; i < LCR_TRIES; i++) {
		if (reg_read(u, UART_LCR) == v)
			return true;
		reg_read(u, UART_DATA);
		reg_write(u, UART_LCR, v);
	}
	return reg_read(u, UART_LCR) == v;
}

/* The divisor of u_baud, or 0 if the speed remains. */
static uint32_t
divisor_of(const struct uart *u)
{
	uint64_t d;

	if (u->u_baud == 0)
		return 0;
	d = ((uint64_t)u->u_clock_hz + 8ULL * u->u_baud) / (16ULL * u->u_baud);
	return d <= 0xffff ? (uint32_t)d : 0;
}

static bool
ns16550_start(struct uart *u)
{
	uint32_t divisor = divisor_of(u);

	/* QEMU's mini UART has no scratch register, and no LCR to read. */
	if (u->u_kind == UART_BCM_AUX) {
		reg_write(u, UART_LCR, LCR_8N1);
	} else {
		if (!has_scratch(u))
			return false;
		if (divisor != 0 && set_lcr(u, LCR_8N1 | LCR_DLAB)) {
			reg_write(u, UART_DATA, (uint8_t)divisor);
			reg_write(u, UART_IER, (uint8_t)(divisor >> 8));
		}
		set_lcr(u, LCR_8N1);
	}
	reg_write(u, UART_IER, 0);
	reg_write(u, UART_FCR, FCR_ENABLE);
	reg_write(u, UART_MCR, MCR_DTR_RTS);
	u->u_status = UART_LSR << u->u_shift;
	u->u_mask = u->u_room = LSR_THRE;
	u->u_data = UART_DATA;
	return true;
}

static int
ns16550_receive(const struct uart *u)
{
	return (reg_read(u, UART_LSR) & LSR_DR) != 0 ? reg_read(u, UART_DATA)
	                                             : -1;
}

const struct uart_ops ns16550_ops = { ns16550_start, NULL, ns16550_receive };
