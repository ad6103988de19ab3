/*
 * The console: a 16550 UART, polled.  COM1 until the tables have been read,
 * then what ACPI's SPCR names.  A port with nothing behind it swallows what
 * is written.
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

/* One character at 300 baud takes 33 ms; a port read about 1 us on metal. */
#define PATIENCE 100000

/*
 * Serial Port Console Redirection Table (SPCR), by Microsoft: the kind of
 * UART, where it is, and its speed as a code; 0: whatever it is now.
 */
#define SPCR_KIND  36
#define SPCR_ADDR  40
#define SPCR_SPEED 58
#define SPCR_MIN   80
#define KIND_16550 0x00
#define KIND_16450 0x01
#define KIND_GAS   0x12 /* 16550, laid out as the address says */

static struct {
	enum { UART_UNKNOWN, UART_GOOD, UART_ABSENT } state;
	uint16_t port;
	volatile uint8_t *regs; /* in memory; NULL: at port */
	unsigned stride;        /* bytes from one register to the next */
	bool dwords;            /* answers to accesses of 32 bits alone */
	/* What was said on COM1, should the console turn out to be elsewhere.
	 */
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
		probe(1); /* 115200 baud */
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

/* The clock of a PC's UARTs divided by what gives the speed, or 0. */
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

/* False where the address is none that this driver reaches. */
static bool
move_to(const struct acpi_gas *g)
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
	if (!move_to(&g))
		return;
	probe(g.ag_space == ACPI_GAS_IO ? divisor_of(t[SPCR_SPEED]) : 0);
	said = uart.nsaid;
	for (size_t i = 0; i < said; i++)
		uart_putc(uart.said[i]);
	printf("cpu: console at %#lx, by SPCR\n", (unsigned long)g.ag_addr);
}
