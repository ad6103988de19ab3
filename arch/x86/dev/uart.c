/*
 * The console: a 16550 UART, which is polled.  It is COM1 until the kernel has
 * read ACPI's tables, and then the port that the SPCR names.  If the port has
 * no UART, output is dropped.
 *
 * National Semiconductor PC16550D, "Registers".
 */
#include <stdbool.h>
#include <stddef.h>

#include "arch/x86/insn.h"
#include "arch/x86/mmio.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/acpi.h"
#include "lib/printf.h"

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

/* A character at 300 baud takes 33 ms, a port read on hardware 1 us. */
#define PATIENCE 100000

/*
 * The kind of UART, its address, and a code for its speed.  Code 0 keeps the
 * current speed.
 * Microsoft, "Serial Port Console Redirection Table (SPCR)".
 */
#define SPCR_KIND  36
#define SPCR_ADDR  40
#define SPCR_SPEED 58
#define SPCR_MIN   80
#define KIND_16550 0x00
#define KIND_16450 0x01
#define KIND_GAS   0x12 /* 16550, registers as ag_bits says */

static struct {
	enum { UART_UNKNOWN, UART_GOOD, UART_ABSENT } state;
	uint16_t port;
	volatile uint8_t *regs; /* in memory; NULL: at `port` */
	unsigned stride;        /* bytes from one register to the next */
	bool dwords;            /* takes accesses of 32 bits only */
	/* The output on COM1, to repeat on the port of the SPCR. */
	size_t nsaid;
	char said[1024];
} uart = { .port = COM1 };

static volatile uint8_t *
reg_at(unsigned r)
{
	return uart.regs + r * uart.stride;
}

static uint8_t
reg_read(unsigned r)
{
	if (uart.regs == NULL)
		return inb((uint16_t)(uart.port + r));
	if (uart.dwords)
		return (uint8_t)mmio_read32((volatile uint32_t *)reg_at(r));
	return mmio_read8(reg_at(r));
}

static void
reg_write(unsigned r, uint8_t v)
{
	if (uart.regs == NULL)
		outb((uint16_t)(uart.port + r), v);
	else if (uart.dwords)
		mmio_write32((volatile uint32_t *)reg_at(r), v);
	else
		mmio_write8(reg_at(r), v);
}

/* The scratch register keeps both values.  A port without a UART does not. */
static bool
has_scratch(void)
{
	reg_write(UART_SCR, 0x5a);
	if (reg_read(UART_SCR) != 0x5a)
		return false;
	reg_write(UART_SCR, 0xa5);
	return reg_read(UART_SCR) == 0xa5;
}

/* Set up the UART, if it exists.  Divisor 0 keeps the speed. */
static void
probe_uart(unsigned divisor)
{
	if (!has_scratch()) {
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

static void
uart_putc(int c)
{
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

void
arch_putc(int c)
{
	if (uart.state == UART_UNKNOWN)
		probe_uart(1); /* 115200 baud */
	if (uart.nsaid < sizeof uart.said)
		uart.said[uart.nsaid++] = (char)c;
	uart_putc(c);
}

int
arch_getc(void)
{
	if (uart.state != UART_GOOD || (reg_read(UART_LSR) & LSR_DR) == 0)
		return -1;
	return reg_read(UART_DATA);
}

/* The divisor of a PC's UART clock for a speed of the SPCR, or 0. */
static unsigned
divisor_of(unsigned code)
{
	switch (code) {
	case 3:
		return 12; /* 9600 baud */
	case 4:
		return 6;
	case 6:
		return 2;
	case 7:
		return 1;
	default:
		return 0;
	}
}

/* Use the UART at this address.  False if the driver cannot access it. */
static bool
use_address(const struct acpi_gas *g)
{
	unsigned stride = g->ag_bits / 8;

	if (g->ag_space == ACPI_GAS_IO) {
		uart.port = (uint16_t)g->ag_addr;
		return true;
	}
	if (g->ag_space != ACPI_GAS_MEMORY)
		return false;
	if (stride == 0)
		stride = 1;
	uart.regs = arch_map_device(g->ag_addr, 8UL * stride);
	uart.stride = stride;
	uart.dwords = stride == 4 && g->ag_access == ACPI_GAS_DWORD;
	return uart.regs != NULL;
}

void
x86_uart_init(void)
{
	uint32_t n;
	const unsigned char *t = acpi_table("SPCR", &n);
	struct acpi_gas g;
	size_t said;

	if (t == NULL || n < SPCR_MIN ||
	    (t[SPCR_KIND] != KIND_16550 && t[SPCR_KIND] != KIND_16450 &&
		t[SPCR_KIND] != KIND_GAS))
		return;
	g = acpi_gas(t + SPCR_ADDR);
	if (g.ag_addr == 0 || (g.ag_space == ACPI_GAS_IO && g.ag_addr == COM1))
		return;
	if (!use_address(&g))
		return;
	probe_uart(g.ag_space == ACPI_GAS_IO ? divisor_of(t[SPCR_SPEED]) : 0);
	said = uart.nsaid;
	for (size_t i = 0; i < said; i++)
		uart_putc(uart.said[i]);
	printf("cpu: console moved: to %#lx, by ACPI's SPCR\n",
	    (unsigned long)g.ag_addr);
}
