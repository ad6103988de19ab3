/*
 * The console: a 16550 UART, polled.  COM1 until the tables have been read,
 * then what ACPI's SPCR names.  A port with nothing behind it swallows what
 * is written.
 * National Semiconductor PC16550D, "Registers".
 */
#include <stdbool.h>
#include <stddef.h>

#include "arch/x86/insn.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"

#define COM1 0x3f8

#define UART_DATA 0 /* with DLAB: divisor, low */
#define UART_IER  1 /* with DLAB: divisor, high */
#define UART_FCR  2
#define UART_LCR  3
#define UART_MCR  4
#define UART_LSR  5
#define UART_SCR  7

#define LCR_8N1     0x03
#define LCR_DLAB    0x80
#define FCR_ENABLE  0x07 /* and clear both FIFOs */
#define MCR_DTR_RTS 0x03
#define LSR_DR      0x01
#define LSR_THRE    0x20

/* One character at 300 baud takes 33 ms; a port read about 1 us on metal. */
#define PATIENCE 100000

static struct {
	enum { UART_UNKNOWN, UART_GOOD, UART_ABSENT } state;
	uint16_t port;
	volatile uint8_t *regs; /* in memory; NULL: at port */
	unsigned stride;        /* bytes from one register to the next */
} uart = { .port = COM1 };

static uint8_t
reg_read(unsigned r)
{
	if (uart.regs != NULL)
		return uart.regs[r * uart.stride];
	return inb((uint16_t)(uart.port + r));
}

static void
reg_write(unsigned r, uint8_t v)
{
	if (uart.regs != NULL)
		uart.regs[r * uart.stride] = v;
	else
		outb((uint16_t)(uart.port + r), v);
}

/* A register that only remembers: nothing else answers with both values. */
static bool
is_there(void)
{
	reg_write(UART_SCR, 0x5a);
	if (reg_read(UART_SCR) != 0x5a)
		return false;
	reg_write(UART_SCR, 0xa5);
	return reg_read(UART_SCR) == 0xa5;
}

/* divisor 0: the speed firmware chose stays. */
static void
probe(unsigned divisor)
{
	if (!is_there()) {
		uart.state = UART_ABSENT;
		return;
	}
	reg_write(UART_IER, 0);
	if (divisor != 0) {
		reg_write(UART_LCR, LCR_8N1 | LCR_DLAB);
		reg_write(UART_DATA, (uint8_t)divisor);
		reg_write(UART_IER, (uint8_t)(divisor >> 8));
	}
	reg_write(UART_LCR, LCR_8N1);
	reg_write(UART_FCR, FCR_ENABLE);
	reg_write(UART_MCR, MCR_DTR_RTS);
	uart.state = UART_GOOD;
}

void
arch_putc(int c)
{
	if (uart.state == UART_UNKNOWN)
		probe(1); /* 115200 baud */
	if (uart.state != UART_GOOD)
		return;
	for (unsigned n = 0; (reg_read(UART_LSR) & LSR_THRE) == 0; n++) {
		if (n == PATIENCE) {
			uart.state = UART_ABSENT;
			return;
		}
	}
	reg_write(UART_DATA, (uint8_t)c);
}

int
arch_getc(void)
{
	if (uart.state != UART_GOOD || (reg_read(UART_LSR) & LSR_DR) == 0)
		return -1;
	return reg_read(UART_DATA);
}
