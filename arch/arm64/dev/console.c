/*
 * The console's UART.  The command line names it (uart=), or the tables do.
 * Until it has started, output waits in a buffer: a store to a guessed address
 * may hang a machine.
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "dev/pci/pci.h"
#include "dev/uart/uart.h"
#include "kern/arch.h"
#include "kern/platform/console.h"
#include "lib/printf.h"

/* The UART of QEMU's virt machine, for a machine whose tables name none. */
#define FALLBACK_PA 0x09000000

const bool uart_has_ports = false;

static struct {
	struct uart uart;
	/* For the fast path; NULL: registers of another width, or commands. */
	volatile uint32_t *status, *data;
	bool stuck; /* it stayed full, and has had no room since */
	size_t nwaiting;
	char waiting[2048];
} console;

uint32_t
uart_read(const struct uart *u, unsigned offset)
{
	volatile uint8_t *reg = u->u_regs + offset;

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

	if (u->u_width == 4)
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

	if (u->u_ops->send != NULL || u->u_width != 4)
		return;
	console.data = (volatile uint32_t *)(u->u_regs + u->u_data);
	console.status = (volatile uint32_t *)(u->u_regs + u->u_status);
}

/*
 * A UART that stays full must not stop the run: drop the character.  The ones
 * after it do not wait until it has room again.
 */
static void
send_char(int c)
{
	const struct uart *u = &console.uart;
	uint64_t give_up = arch_tick() + arch_tick_hz() / 10;

	while (!uart_has_room(u)) {
		if (console.stuck || arch_tick() > give_up) {
			console.stuck = true;
			console.status = NULL; /* send_char() ends it */
			return;
		}
		arch_relax();
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
	volatile uint32_t *status =
	    __atomic_load_n(&console.status, __ATOMIC_RELAXED);

	/* The fast path: a long write has a limit of instructions. */
	if (status != NULL &&
	    (mmio_read32(status) & console.uart.u_mask) == console.uart.u_room)
		mmio_write32(console.data, (unsigned char)c);
	else if (console.uart.u_ops != NULL)
		send_char(c);
	else if (console.nwaiting < sizeof console.waiting)
		console.waiting[console.nwaiting++] = (char)c;
}

int
arch_key(void)
{
	return uart_receive(&console.uart);
}

/* Start the UART and print what waits.  Returns false if none answers. */
static bool
start_uart(const struct uart *u)
{
	console.uart = *u;
	console.uart.u_regs = arch_map_device(u->u_addr, uart_bytes(u));
	if (console.uart.u_regs == NULL ||
	    !arm64_answers((const volatile uint32_t *)console.uart.u_regs) ||
	    !uart_start(&console.uart))
		return false;
	for (size_t i = 0; i < console.nwaiting; i++)
		send_char(console.waiting[i]);
	if (!console.stuck)
		open_fast_path();
	return true;
}

/* The same for a UART that `source` names.  A failure is reported. */
static bool
start_named(const struct uart *u, const char *source)
{
	if (u->u_kind == UART_NONE)
		return false;
	if (machine.m_boot != NULL &&
	    machine_is_ram(machine.m_boot, u->u_addr)) {
		printf("cpu: %s: the console's UART at %#lx is memory: it is "
		       "not used\n",
		    source, (unsigned long)u->u_addr);
		return false;
	}
	if (start_uart(u))
		return true;
	printf("cpu: console: nothing answers at %#lx: correct the UART's "
	       "address in the %s\n",
	    (unsigned long)u->u_addr, source);
	return false;
}

/* The 16550 on PCI's first bus: without firmware, no other bus has a number. */
static bool
start_pci(void)
{
	struct uart u;

	if (!pci_find_uart(&u, 1) || !start_uart(&u))
		return false;
	printf("cpu: console: %s at %#lx, by PCI\n",
	    uart_types[u.u_kind].ut_name, (unsigned long)u.u_addr);
	return true;
}

void
console_init(void)
{
	if (console.uart.u_ops != NULL ||
	    start_named(&cons_uart, "command line") ||
	    start_named(&machine.m_uart, machine.m_tables))
		return;
	if (machine.m_no_driver[0] != '\0')
		printf("cpu: console: %s: the UART (%s) has no driver: name "
		       "another with uart=TYPE,ADDRESS\n",
		    machine.m_tables, machine.m_no_driver);
	if (start_pci())
		return;
	/*
	 * On real hardware this address may be anything, even memory.  A run
	 * that ends before the tables have been read has nothing to lose.
	 */
	if (machine.m_virtual || machine.m_tables == NULL) {
		struct uart u = uart_make(UART_PL011, FALLBACK_PA);

		start_uart(&u);
	}
}
