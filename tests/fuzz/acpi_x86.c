/*
 * The tables MADT, SPCR, DBG2, HPET, FADT, DSDT and WDAT of an x86 machine.
 * Every device is the same page.  A read of a port returns a new number.
 */
#include "arch/x86/dev/apic.h"
#include "arch/x86/dev/refclock.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/platform/firmware/acpi_uart.h"
#include "kern/platform/firmware/acpi_watchdog.h"
#include "kern/sched/cpu.h"
#include "tests/fuzz/tables.h"

static uint32_t device[1024];
static uint32_t ports;
struct cpu cpus[MAXCPU];
unsigned ncpu;
struct x86_cpu x86_boot_cpu;
struct x86_apic x86_apic;

void
arch_relax(void)
{
	device[0xf0 / 4]++;
}

volatile void *
arch_map_device(uint64_t pa, size_t len)
{
	return len <= sizeof device ? device : NULL;
}

uint32_t
fuzz_in(uint16_t port)
{
	return port + ports++;
}

void
fuzz_out(uint16_t port, uint32_t v)
{
	ports ^= port ^ v;
}

uint32_t
x86_apic_id(void)
{
	return 0;
}

struct cpu *
cpu_add(uint64_t hwid)
{
	if (ncpu == MAXCPU)
		return NULL;
	cpus[ncpu].c_id = ncpu;
	cpus[ncpu].c_hwid = hwid;
	return &cpus[ncpu++];
}

const bool uart_has_ports = true;

uint32_t
uart_read(const struct uart *u, unsigned offset)
{
	return device[offset / 4 % 1024] ^ u->u_width;
}

void
uart_write(const struct uart *u, unsigned offset, uint32_t v)
{
	device[offset / 4 % 1024] = v ^ u->u_width;
}

bool
acpi_reg_read(const struct acpi_gas *at, unsigned bytes, uint32_t *v)
{
	CHECK(bytes == 1 || bytes == 2 || bytes == 4);
	*v = fuzz_in((uint16_t)at->ag_addr);
	return at->ag_space <= ACPI_GAS_IO;
}

bool
acpi_reg_write(const struct acpi_gas *at, unsigned bytes, uint32_t v)
{
	CHECK(bytes == 1 || bytes == 2 || bytes == 4);
	fuzz_out((uint16_t)at->ag_addr, v);
	return at->ag_space <= ACPI_GAS_IO;
}

static const void *
map_table(uint64_t pa, size_t bytes)
{
	return bytes <= tables_room(pa) ? (const void *)(uintptr_t)pa : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const kinds[] = { "APIC", "SPCR", "HPET", "FACP",
		"DSDT", "DBG2", "WDAT", "WDRT" };
	struct uart uart;
	struct refclock rc[REFCLOCKS];

	acpi_init(0, map_table); /* clear the tables of the last input */
	acpi_init(tables_make(data, n, kinds, 8), map_table);
	acpi_each(fuzz_read_table, NULL);
	memset(device, 0, sizeof device);
	device[1] = 10000000; /* HPET's period in femtoseconds */
	ncpu = 0;
	if (acpi_uart(&uart) != NULL)
		CHECK(uart.u_addr != 0 && uart_bytes(&uart) > 0 &&
		      (uart.u_kind != UART_16550_IO ||
			  uart.u_addr <= 0x10000 - uart_bytes(&uart)));
	acpi_watchdog_init();
	x86_halt_init();
	x86_smp_init();
	CHECK(x86_refclock_find(rc) <= REFCLOCKS);
	CHECK(ncpu >= 1 && ncpu <= MAXCPU);
	tables_free();
	return 0;
}
