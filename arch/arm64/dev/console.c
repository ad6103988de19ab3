/*
 * The console's UART, polled: a PL011, a 16550 (ns16550.c), or BCM2835's mini
 * UART, whose registers are a 16550's.  Until the tables have named the UART,
 * output waits in a buffer: a store to a guessed address may hang a machine.
 * Arm PrimeCell UART (PL011) TRM (DDI 0183), "Programmers model"; Broadcom,
 * BCM2835 ARM Peripherals, "Mini UART".
 */
#include "arch/arm64/dev/console.h"

#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/dev/ns16550.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "kern/arch.h"
#include "lib/printf.h"

/* The UART of QEMU's virt machine, for a machine whose tables name none. */
#define FALLBACK_PA 0x09000000

#define UARTDR        (0x00 / 4)
#define UARTFR        (0x18 / 4)
#define UARTFR_RXFE   (1 << 4)
#define UARTFR_TXFF   (1 << 5)
#define UARTLCR_H     (0x2c / 4)
#define UARTLCR_H_8N1 0x70 /* with FIFOs */
#define UARTCR        (0x30 / 4)
#define UARTCR_ON     0x301 /* UARTEN, TXE, RXE */

static struct {
	void (*putc)(int c); /* NULL until the UART has started */
	int (*getc)(void);
	volatile uint32_t *regs; /* of the PL011 */
	size_t nwaiting;
	char waiting[2048];
} console;

/* A UART that stays full must not stop the run: drop the character. */
static void
pl011_putc(int c)
{
	uint64_t give_up = 0;

	while (mmio_read32(&console.regs[UARTFR]) & UARTFR_TXFF) {
		if (give_up == 0)
			give_up = arch_tick() + arch_tick_hz() / 10;
		else if (arch_tick() > give_up)
			return;
		arch_relax();
	}
	mmio_write32(&console.regs[UARTDR], (unsigned char)c);
}

static int
pl011_getc(void)
{
	if (mmio_read32(&console.regs[UARTFR]) & UARTFR_RXFE)
		return -1;
	return mmio_read32(&console.regs[UARTDR]) & 0xff;
}

void
arch_putc(int c)
{
	if (console.putc != NULL)
		console.putc(c);
	else if (console.nwaiting < sizeof console.waiting)
		console.waiting[console.nwaiting++] = (char)c;
}

int
arch_getc(void)
{
	return console.getc != NULL ? console.getc() : -1;
}

/* Returns false if no device answers at this address. */
static bool
pl011_start(uint64_t pa, enum uart_kind kind)
{
	volatile uint32_t *regs = arch_map_device(pa, PAGE_SIZE);

	if (regs == NULL || !arm64_answers(&regs[UARTFR]))
		return false;
	console.regs = regs;
	/* The SBSA's generic UART has no UARTCR and no UARTLCR_H. */
	if (kind != UART_SBSA &&
	    (mmio_read32(&regs[UARTCR]) & UARTCR_ON) != UARTCR_ON) {
		mmio_write32(&regs[UARTLCR_H], UARTLCR_H_8N1);
		mmio_write32(&regs[UARTCR], UARTCR_ON);
	}
	return true;
}

/* Start the UART and print what waits. */
static bool
start_uart(uint64_t pa, enum uart_kind kind)
{
	bool is_16550 = kind == UART_NS16550 || kind == UART_BCM_AUX;

	/* QEMU's mini UART has no scratch register to probe by. */
	if (is_16550 ? !ns16550_start(pa, machine.m_uart_shift,
			   machine.m_uart_width, kind == UART_NS16550)
		     : !pl011_start(pa, kind))
		return false;
	console.putc = is_16550 ? ns16550_putc : pl011_putc;
	console.getc = is_16550 ? ns16550_getc : pl011_getc;
	for (size_t i = 0; i < console.nwaiting; i++)
		console.putc(console.waiting[i]);
	return true;
}

void
console_init(void)
{
	if (console.putc != NULL)
		return;
	if (machine.m_uart != UART_NONE) {
		if (start_uart(machine.m_uart_pa, machine.m_uart))
			return;
		printf("cpu: console: nothing answers at %#lx: correct the "
		       "UART's address in the %s\n",
		    (unsigned long)machine.m_uart_pa, machine.m_tables);
	}
	/*
	 * On real hardware this address may be anything, even memory.  A run
	 * that ends before the tables have been read has nothing to lose.
	 */
	if (machine.m_virtual || machine.m_tables == NULL)
		start_uart(FALLBACK_PA, UART_PL011);
}
