/* A UART that stays full costs its wait once, and works again with room. */
#include "tests/lib/host/support.h"

#include "arch/x86/insn.h"
#include "arch/x86/x86.h"
#include "dev/pci/pci.h"
#include "dev/uart/uart.h"
#include "kern/arch.h"
#include "kern/platform/console.h"
#include "kern/platform/firmware/acpi_uart.h"

#define COM1     0x3f8
#define LSR      5
#define LCR      3
#define LSR_THRE 0x20

struct uart cons_uart;

static uint8_t regs[8];
static uint64_t reads, room_at; /* of the LSR; from room_at on it has room */
static char sent[16];
static unsigned nsent;

uint8_t
inb(uint16_t port)
{
	assert_in_range(port, COM1, COM1 + 7);
	if (port == COM1 + LSR)
		return ++reads >= room_at ? LSR_THRE : 0;
	return regs[port - COM1];
}

void
outb(uint16_t port, uint8_t v)
{
	assert_in_range(port, COM1, COM1 + 7);
	regs[port - COM1] = v;
	if (port == COM1 && (regs[LCR] & 0x80) == 0) {
		assert_true(reads >= room_at);
		sent[nsent++] = (char)v;
	}
}

const char *
acpi_uart(struct uart *u)
{
	return NULL;
}

bool
pci_find_uart(struct uart *u, unsigned buses)
{
	return false;
}

TEST(a_full_uart_is_waited_for_once)
{
	room_at = UINT64_MAX;
	console_init();
	arch_putc('a');
	assert_in_range(reads, 100000, 100010);
	for (unsigned i = 0; i < 1000; i++)
		arch_putc('b');
	assert_in_range(reads, 101000, 101010);
	assert_int_equal(nsent, 0);

	/* It has room, is full for a while, and has room again. */
	room_at = reads;
	arch_putc('c');
	arch_putc('d');
	room_at = reads + 50000;
	arch_putc('e');
	room_at = UINT64_MAX;
	arch_putc('f');
	room_at = 0;
	arch_putc('g');
	assert_int_equal(nsent, 4);
	assert_memory_equal(sent, "cdeg", 4);
}
