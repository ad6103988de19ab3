/* A UART that stays full costs its wait once, and works again with room. */
#include "tests/lib/host/support.h"

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/mmio.h"
#include "dev/uart/uart.h"
#include "kern/platform/console.h"

#define HZ     1000000 /* so a tick is 1 us */
#define STATUS 0x18    /* UARTFR of a Generic UART */
#define TXFF   (1 << 5)

struct machine machine;
struct uart cons_uart;

static uint32_t regs[0x1000 / 4];
static uint64_t now, room_at; /* from room_at on it has room */
static char sent[16];
static unsigned nsent;

uint64_t
arch_tick(void)
{
	return now;
}

uint64_t
arch_tick_hz(void)
{
	return HZ;
}

uint32_t
mmio_read32(const volatile uint32_t *reg)
{
	if (reg == &regs[STATUS / 4])
		return ++now >= room_at ? 0 : TXFF;
	return *reg;
}

void
mmio_write32(volatile uint32_t *reg, uint32_t v)
{
	assert_ptr_equal(reg, regs);
	assert_true(now >= room_at);
	sent[nsent++] = (char)v;
}

volatile void *
arch_map_device(uint64_t pa, size_t bytes)
{
	assert_true(bytes <= sizeof regs);
	return regs;
}

bool
arm64_answers(const volatile uint32_t *reg)
{
	return true;
}

TEST(a_full_uart_is_waited_for_once)
{
	room_at = UINT64_MAX;
	arch_putc('a'); /* before the UART is known */
	cons_uart = uart_make(UART_SBSA, 0x9000000);
	console_init();
	assert_in_range(now, HZ / 10, HZ / 10 + 20);
	for (unsigned i = 0; i < 1000; i++)
		arch_putc('b'); /* a read of the status, 1 us, for each */
	assert_in_range(now, HZ / 10, HZ / 10 + 1020);
	assert_int_equal(nsent, 0);

	/* It has room, is full for 50 ms, and has room again. */
	room_at = now;
	arch_putc('c');
	arch_putc('d');
	room_at = now + HZ / 20;
	arch_putc('e');
	room_at = UINT64_MAX;
	arch_putc('f');
	room_at = 0;
	arch_putc('g');
	assert_int_equal(nsent, 4);
	assert_memory_equal(sent, "cdeg", 4);
}
