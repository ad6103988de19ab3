/*
 * A 16550 UART, polled: the console of Firecracker and of many boards.  The
 * speed stays as firmware or the hypervisor left it.
 * National Semiconductor PC16550D, "Registers".
 */
#include "arch/arm64/dev/ns16550.h"

#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/mmio.h"
#include "kern/arch.h"

#define UART_DATA 0
#define UART_IER  1
#define UART_FCR  2
#define UART_LCR  3
#define UART_MCR  4
#define UART_LSR  5
#define UART_SCR  7

#define LCR_8N1     0x03 /* and DLAB clear: registers 0 and 1 are these */
#define FCR_ENABLE  0x07 /* and clear both FIFOs */
#define MCR_DTR_RTS 0x03
#define LSR_DR      0x01
#define LSR_THRE    0x20

static struct {
	volatile uint8_t *regs;
	unsigned shift;
	unsigned width; /* of an access, in bytes */
} uart;

static uint8_t
reg_read(unsigned r)
{
	volatile uint8_t *reg = &uart.regs[r << uart.shift];

	if (uart.width == 4)
		return (uint8_t)mmio_read32((volatile uint32_t *)reg);
	return mmio_read8(reg);
}

static void
reg_write(unsigned r, uint8_t v)
{
	volatile uint8_t *reg = &uart.regs[r << uart.shift];

	if (uart.width == 4)
		mmio_write32((volatile uint32_t *)reg, v);
	else
		mmio_write8(reg, v);
}

/* The scratch register keeps both values; no other device's would. */
static bool
is_there(void)
{
	reg_write(UART_SCR, 0x5a);
	if (reg_read(UART_SCR) != 0x5a)
		return false;
	reg_write(UART_SCR, 0xa5);
	return reg_read(UART_SCR) == 0xa5;
}

bool
ns16550_start(uint64_t pa, unsigned shift, unsigned width, bool probe)
{
	uart.regs = arch_map_device(pa, 8UL << shift);
	uart.shift = shift;
	uart.width = width;
	if (uart.regs == NULL ||
	    !arm64_answers((const volatile uint32_t *)uart.regs) ||
	    (probe && !is_there()))
		return false;
	reg_write(UART_LCR, LCR_8N1);
	reg_write(UART_IER, 0);
	reg_write(UART_FCR, FCR_ENABLE);
	reg_write(UART_MCR, MCR_DTR_RTS);
	return true;
}

void
ns16550_putc(int c)
{
	uint64_t give_up = 0;

	while ((reg_read(UART_LSR) & LSR_THRE) == 0) {
		if (give_up == 0)
			give_up = arch_tick() + arch_tick_hz() / 10;
		else if (arch_tick() > give_up)
			return;
		arch_relax();
	}
	reg_write(UART_DATA, (uint8_t)c);
}

int
ns16550_getc(void)
{
	return (reg_read(UART_LSR) & LSR_DR) != 0 ? reg_read(UART_DATA) : -1;
}
