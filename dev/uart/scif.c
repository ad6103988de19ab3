/*
 * Renesas' SCIF, with the speed as firmware left it.  TDFE and RDF stay set
 * until software has read 1 and then writes 0.
 *
 * Renesas, RZ/G Series, 2nd Generation User's Manual: Hardware (R01UH0808),
 * "Serial Communication Interface with FIFO (SCIF)".
 */
#include "dev/uart/uart.h"

/* Registers by number.  They have 16 bits, but for data. */
#define SCSCR      2
#define SCSCR_TE   (1 << 5)
#define SCSCR_RE   (1 << 4)
#define SCFTDR     3
#define SCFSR      4
#define SCFSR_TEND (1 << 6)
#define SCFSR_TDFE (1 << 5) /* the FIFO has room */
#define SCFSR_RDF  (1 << 1) /* so many characters as its trigger says */
#define SCFSR_DR   (1 << 0) /* fewer, and no more came */
#define SCFRDR     5

#define NOTHING 0xffff /* no device answers */

static uint32_t
reg_read(const struct uart *u, unsigned r)
{
	return uart_read(u, r << u->u_shift);
}

static void
reg_write(const struct uart *u, unsigned r, uint32_t v)
{
	uart_write(u, r << u->u_shift, v);
}

static bool
scif_start(struct uart *u)
{
	uint32_t control = reg_read(u, SCSCR);

	if (reg_read(u, SCFSR) == NOTHING)
		return false;
	if ((control & (SCSCR_TE | SCSCR_RE)) != (SCSCR_TE | SCSCR_RE))
		reg_write(u, SCSCR, control | SCSCR_TE | SCSCR_RE);
	u->u_status = SCFSR << u->u_shift;
	u->u_mask = u->u_room = SCFSR_TDFE;
	return true;
}

/* The same UART, for its registers of 8 bits. */
static struct uart
data_of(const struct uart *u)
{
	struct uart data = *u;

	data.u_width = 1;
	return data;
}

static void
scif_send(const struct uart *u, unsigned char c)
{
	struct uart data = data_of(u);

	reg_write(&data, SCFTDR, c);
	reg_write(u, SCFSR,
	    reg_read(u, SCFSR) & ~(uint32_t)(SCFSR_TDFE | SCFSR_TEND));
}

static int
scif_receive(const struct uart *u)
{
	struct uart data = data_of(u);
	uint32_t status = reg_read(u, SCFSR);

	if ((status & (SCFSR_RDF | SCFSR_DR)) == 0)
		return -1;
	int c = (int)reg_read(&data, SCFRDR);
	reg_write(u, SCFSR, status & ~(uint32_t)(SCFSR_RDF | SCFSR_DR));
	return c;
}

const struct uart_ops scif_ops = { scif_start, scif_send, scif_receive };
