/*
 * Qualcomm's two UARTs, as firmware left them, for output only.  Both send by
 * command: so many characters follow, then the characters.
 *
 * Qualcomm, APQ8016E Technical Reference Manual, "UART_DM"; the serial engine
 * GENI has no public manual: Linux, include/linux/soc/qcom/geni-se.h.
 */
#include "dev/uart/uart.h"

#define GENI_STATUS        0x40
#define GENI_STATUS_ACTIVE 0x1 /* a command of the sender runs */
#define GENI_TX_TRANS_LEN  0x270
#define GENI_M_CMD0        0x600
#define GENI_START_TX      (1U << 27)
#define GENI_M_IRQ_CLEAR   0x618
#define GENI_M_CMD_DONE    0x1
#define GENI_TX_FIFO       0x700

#define UARTDM_NCF_TX         0x40
#define UARTDM_SR             0xa4
#define UARTDM_SR_TXEMT       (1 << 3)
#define UARTDM_CR             0xa8
#define UARTDM_RESET_TX_READY (3 << 8)
#define UARTDM_TF             0x100

#define NOTHING 0xffffffff /* no device answers */

static bool
geni_start(struct uart *u)
{
	u->u_status = GENI_STATUS;
	u->u_mask = GENI_STATUS_ACTIVE;
	u->u_room = 0;
	return uart_read(u, GENI_STATUS) != NOTHING;
}

static void
geni_send(const struct uart *u, unsigned char c)
{
	uart_write(u, GENI_M_IRQ_CLEAR, GENI_M_CMD_DONE);
	uart_write(u, GENI_TX_TRANS_LEN, 1);
	uart_write(u, GENI_M_CMD0, GENI_START_TX);
	uart_write(u, GENI_TX_FIFO, c);
}

static bool
uartdm_start(struct uart *u)
{
	u->u_status = UARTDM_SR;
	u->u_mask = u->u_room = UARTDM_SR_TXEMT;
	return uart_read(u, UARTDM_SR) != NOTHING;
}

static void
uartdm_send(const struct uart *u, unsigned char c)
{
	uart_write(u, UARTDM_CR, UARTDM_RESET_TX_READY);
	uart_write(u, UARTDM_NCF_TX, 1);
	uart_read(u, UARTDM_NCF_TX); /* the count arrives before the data */
	uart_write(u, UARTDM_TF, c);
}

static int
receive_nothing(const struct uart *u)
{
	(void)u;
	return -1;
}

const struct uart_ops geni_ops = { geni_start, geni_send, receive_nothing };
const struct uart_ops uartdm_ops = { uartdm_start, uartdm_send,
	receive_nothing };
