/*
 * UARTs with a register to send, one to receive, and a status register with a
 * bit for each.  They differ in numbers only.  The speed stays as firmware left
 * it; what firmware left off is turned on.
 *
 * Arm PrimeCell UART (PL011) TRM (DDI 0183), "Programmers model"; Arm Base
 * System Architecture (DEN 0094), "Generic UART"; AMD, Zynq UltraScale+ Devices
 * Register Reference (UG1087), "UART Module"; NXP, i.MX 8M Mini Applications
 * Processor Reference Manual (IMX8MMRM), "UART"; NXP, i.MX 8DualXPlus/
 * 8QuadXPlus Applications Processor Reference Manual (IMX8DQXPRM), "LPUART";
 * Amlogic, S905 Datasheet, "UART"; Marvell, 88F37xx Functional Specification,
 * "UART".
 */
#include <stddef.h>

#include "dev/uart/uart.h"

/* All bits of a register read as 1 if no device answers. */
#define NOTHING 0xffffffff

/* A condition: these bits of the status register have this value. */
struct flag {
	uint32_t mask, value;
};

static const struct fifo {
	unsigned send, receive, status;
	struct flag can_send, has_char;
	/* Bits to clear and to set.  If the last one's are right, all are. */
	struct setup {
		unsigned offset;
		uint32_t clear, set;
	} setup[2];
} fifos[UART_KINDS] = {
	/* UARTDR, UARTFR (TXFF, RXFE); UARTLCR_H: 8N1 with FIFOs; UARTCR. */
	[UART_PL011] = { 0x00, 0x00, 0x18, { 1 << 5, 0 }, { 1 << 4, 0 },
	    { { 0x2c, 0xff, 0x70 }, { 0x30, 0, 0x301 } } },
	[UART_SBSA] = { 0x00, 0x00, 0x18, { 1 << 5, 0 }, { 1 << 4, 0 },
	    { { 0 } } },
	/* FIFO, Channel_sts_reg0 (TFUL, REMPTY), Control_reg0 (TXDIS, TXEN) */
	[UART_CADENCE] = { 0x30, 0x30, 0x2c, { 1 << 4, 0 }, { 1 << 1, 0 },
	    { { 0 }, { 0x00, 0x28, 0x14 } } },
	/*
	 * UTXD, URXD, UTS (TXFULL, RXEMPTY); UCR2: no RTS, 8 bits, on, out of
	 * reset; UCR1: UARTEN.
	 */
	[UART_IMX] = { 0x40, 0x00, 0xb4, { 1 << 4, 0 }, { 1 << 5, 0 },
	    { { 0x84, 0, 0x4027 }, { 0x80, 0, 1 } } },
	/* DATA, STAT (TDRE, RDRF), CTRL (TE, RE). */
	[UART_LPUART] = { 0x1c, 0x1c, 0x14, { 1 << 23, 1 << 23 },
	    { 1 << 21, 1 << 21 }, { { 0 }, { 0x18, 0, 3 << 18 } } },
	/* WFIFO, RFIFO, STATUS (Tx FIFO full, Rx FIFO empty), CONTROL. */
	[UART_MESON] = { 0x00, 0x04, 0x0c, { 1 << 21, 0 }, { 1 << 20, 0 },
	    { { 0 }, { 0x08, 0, 3 << 12 } } },
	/* UART_TSH, UART_RBR, UART_STAT (TX_FIFO_FULL, RX_RDY). */
	[UART_ARMADA] = { 0x04, 0x00, 0x0c, { 1 << 11, 0 }, { 1 << 4, 1 << 4 },
	    { { 0 } } },
};

static bool
fifo_start(struct uart *u)
{
	const struct fifo *f = &fifos[u->u_kind];
	const struct setup *last = &f->setup[1];

	if (uart_read(u, f->status) == NOTHING)
		return false;
	u->u_status = f->status;
	u->u_mask = f->can_send.mask;
	u->u_room = f->can_send.value;
	u->u_data = f->send;
	if (last->set == 0 || (uart_read(u, last->offset) &
				  (last->clear | last->set)) == last->set)
		return true;
	for (unsigned i = 0; i < 2; i++) {
		const struct setup *s = &f->setup[i];

		if (s->set != 0)
			uart_write(u, s->offset,
			    (uart_read(u, s->offset) & ~s->clear) | s->set);
	}
	return true;
}

static int
fifo_receive(const struct uart *u)
{
	const struct fifo *f = &fifos[u->u_kind];

	if ((uart_read(u, f->status) & f->has_char.mask) != f->has_char.value)
		return -1;
	return (int)(uart_read(u, f->receive) & 0xff);
}

const struct uart_ops fifo_ops = { fifo_start, NULL, fifo_receive };
