/*
 * The console's UART.  Several are tried in turn: that of uart= on the command
 * line, that of ACPI's SPCR or DBG2, COM1, a serial port on PCI.  Until one has
 * started, output waits in a buffer: COM1 may have another speed than the SPCR
 * says.
 */
#include "arch/x86/x86.h"

#include <stddef.h>

#include "arch/x86/insn.h"
#include "arch/x86/mmio.h"
#include "dev/pci/pci.h"
#include "dev/uart/uart.h"
#include "kern/arch.h"
#include "kern/platform/console.h"
#include "kern/platform/firmware/acpi_uart.h"
#include "lib/printf.h"

#define COM1      0x3f8
#define PCI_BUSES 256
#define COM1_BAUD 115200

/* A character at 300 baud takes 33 ms, a port read on hardware 1 us. */
#define PATIENCE 100000

#define KEYBOARD_DATA     0x60
#define KEYBOARD_STATUS   0x64
#define KEYBOARD_FULL     0x01
#define KEYBOARD_MOUSE    0x20
#define KEYBOARD_RELEASED 0x80
#define NO_KEYBOARD       0xff /* no controller answers */
#define KEYBOARD_BYTES    16   /* of its buffer */

const bool uart_has_ports = true;

static struct {
	bool chosen;      /* console_init() has run */
	struct uart uart; /* u_ops is NULL: no UART, or none that works */
	/* The fast path's ports, of a 16550; 0: another UART, or stuck. */
	uint16_t status, data;
	bool stuck; /* it stayed full, and has had no room since */
	size_t nwaiting;
	char waiting[2048];
} console;

uint32_t
uart_read(const struct uart *u, unsigned offset)
{
	volatile uint8_t *reg = u->u_regs + offset;

	if (u->u_kind == UART_16550_IO)
		return inb((uint16_t)(u->u_addr + offset));
	if (u->u_width == 4)
		return mmio_read32((volatile uint32_t *)reg);
	if (u->u_width == 2)
		return mmio_read16((volatile uint16_t *)reg);
	return mmio_read8(reg);
}

void
uart_write(const struct uart *u, unsigned offset, uint32_t v)
{
	volatile uint8_t *reg = u->u_regs + offset;

	if (u->u_kind == UART_16550_IO)
		outb((uint16_t)(u->u_addr + offset), (uint8_t)v);
	else if (u->u_width == 4)
		mmio_write32((volatile uint32_t *)reg, v);
	else if (u->u_width == 2)
		mmio_write16((volatile uint16_t *)reg, (uint16_t)v);
	else
		mmio_write8(reg, (uint8_t)v);
}

static void
open_fast_path(void)
{
	const struct uart *u = &console.uart;

	if (u->u_kind != UART_16550_IO)
		return;
	console.status = (uint16_t)(u->u_addr + u->u_status);
	console.data = (uint16_t)(u->u_addr + u->u_data);
}

/* As on arm64: wait once for a UART that stays full, not for each character. */
static void
send_char(int c)
{
	const struct uart *u = &console.uart;

	if (u->u_ops == NULL)
		return;
	for (unsigned n = 0; !uart_has_room(u); n++) {
		if (console.stuck || n == PATIENCE) {
			console.stuck = true;
			console.status = 0; /* send_char() ends it */
			return;
		}
	}
	uart_send(u, (unsigned char)c);
	if (console.stuck)
		open_fast_path();
	console.stuck = false;
}

void
arch_putc(int c)
{
	/* Another CPU's send_char() may end the fast path. */
	uint16_t status = __atomic_load_n(&console.status, __ATOMIC_RELAXED);

	/* The fast path: a long write has a limit of instructions. */
	if (status != 0 && (inb(status) & console.uart.u_mask) != 0)
		outb(console.data, (uint8_t)c);
	else if (console.chosen)
		send_char(c);
	else if (console.nwaiting < sizeof console.waiting)
		console.waiting[console.nwaiting++] = (char)c;
}

/*
 * Was a key of the PS/2 keyboard pressed?  The keyboard sends set 1 of the scan
 * codes: the upper bit means that a key was released.  Some firmware emulates
 * this keyboard for one on USB.
 *
 * IBM Personal System/2 Hardware Interface Technical Reference, "Keyboard and
 * Auxiliary Device Controller".
 */
static bool
take_keyboard(void)
{
	bool pressed = false;

	for (unsigned i = 0; i < KEYBOARD_BYTES; i++) {
		uint8_t status = inb(KEYBOARD_STATUS), code;

		if (status == NO_KEYBOARD || (status & KEYBOARD_FULL) == 0)
			break;
		code = inb(KEYBOARD_DATA);
		pressed |= (status & KEYBOARD_MOUSE) == 0 &&
		           (code & KEYBOARD_RELEASED) == 0;
	}
	return pressed;
}

int
arch_key(void)
{
	int none = take_keyboard() ? 0 : -1, c = uart_receive(&console.uart);

	return c >= 0 ? c : none;
}

/* Returns false if no UART of this kind answers. */
static bool
start_uart(const struct uart *u)
{
	if (u->u_kind == UART_NONE)
		return false;
	console.uart = *u;
	if (u->u_kind != UART_16550_IO) {
		console.uart.u_regs = arch_map_device(u->u_addr, uart_bytes(u));
		if (console.uart.u_regs == NULL)
			return false;
	}
	if (!uart_start(&console.uart))
		return false;
	open_fast_path();
	return true;
}

/* Returns where the UART is named that was started, or NULL: COM1, or none. */
static const char *
choose_uart(void)
{
	struct uart u = { 0 }, com1 = uart_make(UART_16550_IO, COM1);
	const char *table = acpi_uart(&u);

	com1.u_baud = COM1_BAUD;
	if (start_uart(&cons_uart))
		return "the command line";
	if (table != NULL && start_uart(&u))
		return table;
	if (!start_uart(&com1) && pci_find_uart(&u, PCI_BUSES) &&
	    start_uart(&u))
		return "PCI";
	return NULL;
}

void
console_init(void)
{
	if (console.chosen)
		return;
	const char *source = choose_uart();
	console.chosen = true;
	for (size_t i = 0; i < console.nwaiting; i++)
		send_char(console.waiting[i]);
	if (cons_uart.u_kind != UART_NONE &&
	    console.uart.u_addr != cons_uart.u_addr)
		printf("cpu: console: nothing answers at %#lx: correct the "
		       "UART's address in the command line\n",
		    (unsigned long)cons_uart.u_addr);
	if (source != NULL && console.uart.u_addr != COM1)
		printf("cpu: console: %s at %#lx, by %s\n",
		    uart_types[console.uart.u_kind].ut_name,
		    (unsigned long)console.uart.u_addr, source);
}
