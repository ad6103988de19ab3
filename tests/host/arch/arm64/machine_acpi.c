/*
 * The machine from ACPI's tables, given as bytes.  Every GICC has its
 * redistributor, and no table is read beyond its end.  ACPI Specification 6.4,
 * "Multiple APIC Description Table (MADT)", "GIC CPU Interface (GICC)
 * Structure"; "Generic Timer Description Table (GTDT)".
 */
#include "tests/lib/host/machine.h"

#include <stdlib.h>
#include <string.h>

#include "kern/platform/bootinfo.h"

#define NTABLE 4

static struct {
	char *at;
	size_t bytes;
} table[NTABLE];
static unsigned ntable;

static char buf[65536];
static size_t used;

static void
put_bytes(size_t at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		buf[at + i] = (char)(v >> 8 * i);
}

static void
begin_table(const char *signature, size_t bytes)
{
	memset(buf, 0, sizeof buf);
	memcpy(buf, signature, 4);
	used = bytes;
}

static void
close_table(void)
{
	unsigned char sum = 0;

	put_bytes(4, used, 4);
	for (size_t i = 0; i < used; i++)
		sum = (unsigned char)(sum + (unsigned char)buf[i]);
	buf[9] = (char)-sum;
	table[ntable].at = exact_copy(buf, used);
	table[ntable++].bytes = used;
}

static void
add_gicc(unsigned n, uint64_t gicr)
{
	buf[used] = 0xb;
	buf[used + 1] = 80;
	put_bytes(used + 12, 1, 4); /* enabled */
	put_bytes(used + 20, 23, 4);
	put_bytes(used + 60, gicr, 8);
	put_bytes(used + 68, n, 8);
	used += 80;
}

static void
add_gicd(void)
{
	buf[used] = 0xc;
	buf[used + 1] = 24;
	put_bytes(used + 8, 0x8000000, 8);
	buf[used + 20] = 3;
	used += 24;
}

/* Add the root pointer and the XSDT for the tables so far, and parse them. */
static bool
parse_tables(void)
{
	static char rsdp[36];
	struct bootinfo *bi = calloc(1, sizeof *bi);
	unsigned char sum = 0;
	unsigned n = ntable;

	begin_table("XSDT", 36);
	for (unsigned i = 0; i < n; i++, used += 8)
		put_bytes(used, machine_pa(table[i].at), 8);
	close_table();
	memset(rsdp, 0, sizeof rsdp);
	memcpy(rsdp, "RSD PTR ", 8);
	rsdp[15] = 2;
	for (unsigned i = 0; i < 8; i++)
		rsdp[24 + i] = (char)(machine_pa(table[n].at) >> 8 * i);
	for (unsigned i = 0; i < 20; i++)
		sum = (unsigned char)(sum + (unsigned char)rsdp[i]);
	rsdp[8] = (char)-sum;
	bi->bi_rsdp = machine_pa(rsdp);
	bi->bi_mem[bi->bi_nmem++] =
	    (struct bootmem){ machine_pa(rsdp), sizeof rsdp, BOOTMEM_ACPI, 0 };
	for (unsigned i = 0; i < ntable; i++)
		bi->bi_mem[bi->bi_nmem++] =
		    (struct bootmem){ machine_pa(table[i].at), table[i].bytes,
			    BOOTMEM_ACPI, 0 };
	machine_reset();
	bool good = machine_from_acpi(bi);
	if (good)
		machine_check(bi, 0);
	while (ntable > 0)
		free(table[--ntable].at);
	free(bi);
	return good;
}

static void
add_gtdt(uint32_t intid)
{
	begin_table("GTDT", 96);
	put_bytes(64, intid, 4);
	close_table();
}

/* Platform timers: each with a type, a length, a frame, and flags. */
static void
add_platform_timer(unsigned type, unsigned length, uint64_t pa, uint32_t flags)
{
	buf[used] = (char)type;
	put_bytes(used + 1, length, 2);
	put_bytes(used + 12, pa, 8);
	put_bytes(used + 24, flags, 4);
	used += 28;
}

/* The control frames of watchdogs that are not secure. */
TEST(watchdogs_of_gtdt)
{
	begin_table("GTDT", 96);
	put_bytes(64, 27, 4);
	put_bytes(88, 4, 4);
	put_bytes(92, 96, 4);
	add_platform_timer(0, 28, 0x1000, 0); /* a block of timers */
	add_platform_timer(1, 28, 0x2000, 3);
	add_platform_timer(1, 28, 0x3000, 4); /* secure */
	add_platform_timer(1, 28, 0x4000, 0);
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_nwatchdog, 2);
	assert_int_equal(machine.m_watchdog[0].wg_kind, MACHINE_SBSA);
	assert_int_equal(machine.m_watchdog[0].wg_pa, 0x2000);
	assert_int_equal(machine.m_watchdog[1].wg_pa, 0x4000);
}

/* Offsets and lengths that lead out of the table. */
TEST(wrong_platform_timers)
{
	static const struct {
		uint32_t count, at;
		unsigned length;
	} cases[] = {
		{ ~0U, ~0U, 28 },
		{ 1, 97, 28 },
		{ ~0U, 96, 0 },
		{ 1, 96, 29 },
		{ 1, 96, 27 },
		{ 1, 124, 28 },
		{ 0, 96, 28 },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		begin_table("GTDT", 96);
		put_bytes(88, cases[i].count, 4);
		put_bytes(92, cases[i].at, 4);
		add_platform_timer(1, cases[i].length, 0x2000, 0);
		close_table();
		assert_true(parse_tables());
		assert_int_equal(machine.m_nwatchdog, 0);
	}
}

/* As on a server whose redistributors are not contiguous. */
TEST(redistributor_for_each_cpu)
{
	add_gtdt(27);
	begin_table("APIC", 44);
	add_gicd();
	for (unsigned i = 0; i < 32; i++)
		add_gicc(i, 0x10000000 + i * 0x1000000ULL);
	close_table();
	assert_true(parse_tables());
	assert_string_equal(machine_said, "");
	assert_int_equal(machine.m_gic, 3);
	assert_int_equal(machine.m_ncpu, 32);
	assert_int_equal(machine.m_ngicr, 32);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(
		    machine.m_gicr[i].r_pa, 0x10000000 + i * 0x1000000ULL);
}

/* Each of the MAXCPU CPUs that the kernel supports has a redistributor. */
TEST(most_cpus)
{
	add_gtdt(27);
	begin_table("APIC", 44);
	add_gicd();
	for (unsigned i = 0; i < MAXCPU; i++)
		add_gicc(i, 0x10000000 + i * 0x1000000ULL);
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_ncpu, MAXCPU);
	assert_int_equal(machine.m_ngicr, MAXCPU);
}

/* An entry whose length goes beyond the end of the table. */
TEST(cut_entry)
{
	begin_table("APIC", 44);
	add_gicd();
	add_gicc(0, 0x10000000);
	used -= 4;
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_ncpu, 0);
	assert_int_equal(machine.m_gic, 3);
}

TEST(timer_no_ppi)
{
	add_gtdt(0xffffffff);
	assert_true(parse_tables());
	assert_int_equal(machine.m_timer_intid, 27);
	assert_non_null(strstr(
	    machine_said, "ACPI: no PPI for the virtual timer: 27 is used\n"));
}

static void
put_gas(
    size_t at, unsigned space, unsigned bits, unsigned access, uint64_t addr)
{
	buf[at] = (char)space;
	buf[at + 1] = (char)bits;
	buf[at + 3] = (char)access;
	put_bytes(at + 4, addr, 8);
}

/* An SPCR of revision 4.  Code 7 is 115200 baud. */
static void
add_spcr(unsigned type, unsigned space, unsigned bits, unsigned access)
{
	begin_table("SPCR", 90);
	buf[8] = 4;
	buf[36] = (char)type;
	put_gas(40, space, bits, access, 0xfe001000);
	buf[58] = 7;
}

/* Types and addresses: Microsoft, "Serial Port Console Redirection Table". */
TEST(console_of_spcr)
{
	static const struct {
		unsigned type, space, bits, access;
		enum uart_kind kind;
		unsigned shift, width;
	} cases[] = {
		{ 0x00, 0, 8, 1, UART_16550, 0, 1 },
		{ 0x01, 0, 32, 1, UART_16550, 2, 1 },
		{ 0x12, 0, 32, 3, UART_16550, 2, 4 },
		{ 0x14, 0, 16, 2, UART_16550, 1, 2 },
		{ 0x12, 0, 8, 3, UART_16550, 0, 1 }, /* registers overlap */
		{ 0x00, 1, 8, 1, UART_NONE, 0, 0 },  /* no ports on arm64 */
		{ 0x03, 1, 8, 1, UART_NONE, 0, 0 },
		{ 0x03, 0, 32, 3, UART_PL011, 0, 4 },
		{ 0x09, 0, 32, 3, UART_UARTDM, 0, 4 },
		{ 0x0c, 0, 32, 3, UART_IMX, 0, 4 },
		{ 0x0d, 0, 32, 3, UART_SBSA, 0, 4 },
		{ 0x0e, 0, 32, 3, UART_SBSA, 0, 4 },
		{ 0x10, 0, 32, 3, UART_BCM_AUX, 2, 4 },
		{ 0x11, 0, 32, 3, UART_GENI, 0, 4 },
		{ 0x13, 0, 32, 3, UART_GENI, 0, 4 },
		{ 0x02, 0, 32, 3, UART_NONE, 0, 0 },
		{ 0xff, 0, 32, 3, UART_NONE, 0, 0 },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		add_spcr(cases[i].type, cases[i].space, cases[i].bits,
		    cases[i].access);
		close_table();
		assert_true(parse_tables());
		assert_int_equal(machine.m_uart.u_kind, cases[i].kind);
		assert_int_equal(machine.m_uart.u_shift, cases[i].shift);
		assert_int_equal(machine.m_uart.u_width, cases[i].width);
		/* The clock is unknown, so the rate cannot be set. */
		assert_int_equal(machine.m_uart.u_baud, 0);
		if (cases[i].kind != UART_NONE)
			assert_int_equal(machine.m_uart.u_addr, 0xfe001000);
		assert_int_equal(
		    machine.m_no_driver[0] != '\0', cases[i].kind == UART_NONE);
	}
	assert_string_equal(machine.m_no_driver, "type 0xff of the SPCR");
	/* Without an address firmware uses no console. */
	add_spcr(0xff, 0, 32, 3);
	put_bytes(44, 0, 8);
	close_table();
	assert_true(parse_tables());
	assert_string_equal(machine.m_no_driver, "");
}

/* AWS's Graviton: no clock, on PCI 1d0f:8250, not at its BAR's address. */
TEST(console_of_graviton)
{
	static const unsigned char spcr[] = {
		'S', 'P', 'C', 'R', 80, 0, 0, 0, 2, 0, 'A', 'M', 'A', 'Z', 'O',
		'N', 'A', 'M', 'Z', 'N', 'S', 'P', 'C', 'R', 1, 0, 0, 0, 'A',
		'M', 'Z', 'N', 1, 0, 0, 0, /* the header */
		0, 0, 0, 0, 0, 8, 0, 1, 0, 0, 0x0a, 0x09, 0, 0, 0, 0, 8, 0, 37,
		0, 0, 0, /* interrupt of the GIC */
		7, 0, 1, 2, 3, 0, 0x50, 0x82, 0x0f, 0x1d, 0, 1, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0 /* no clock */
	};

	_Static_assert(sizeof spcr == 80, "its length");
	memcpy(buf, spcr, used = sizeof spcr);
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_uart.u_kind, UART_16550);
	assert_int_equal(machine.m_uart.u_addr, 0x090a0000);
	assert_int_equal(machine.m_uart.u_shift, 0);
	assert_int_equal(machine.m_uart.u_width, 1);
	assert_int_equal(machine.m_uart.u_baud, 0); /* as firmware left it */
	assert_int_equal(machine.m_pci.hb_ecam.r_pa, 0);
}

/* PCI Firmware Specification, "MCFG Table Description". */
TEST(configuration_registers_of_mcfg)
{
	begin_table("MCFG", 60);
	put_bytes(44, 0x4010000000, 8);
	buf[55] = (char)0xff;
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_pci.hb_ecam.r_pa, 0x4010000000);
	assert_int_equal(machine.m_pci.hb_ecam.r_bytes, 256 << 20);
	/* Another segment, and more buses of segment 0, may come first. */
	begin_table("MCFG", 44 + 3 * 16);
	put_bytes(44, 0x5010000000, 8);
	put_bytes(44 + 8, 1, 2);
	put_bytes(60, 0x6010000000, 8);
	buf[60 + 10] = 0x40;
	put_bytes(76, 0x4010000000, 8);
	buf[76 + 11] = 0x3f;
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_pci.hb_ecam.r_pa, 0x4010000000);
	assert_int_equal(machine.m_pci.hb_ecam.r_bytes, 64 << 20);
	/* Without an entry. */
	begin_table("MCFG", 59);
	put_bytes(44, 0x4010000000, 8);
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_pci.hb_ecam.r_pa, 0);
}

/* The precise rate overrides the code. */
TEST(rate_of_spcr)
{
	for (unsigned precise = 0; precise < 2; precise++) {
		add_spcr(0x12, 0, 32, 3);
		put_bytes(76, 24000000, 4);
		put_bytes(80, precise ? 1500000 : 0, 4);
		close_table();
		assert_true(parse_tables());
		assert_int_equal(machine.m_uart.u_clock_hz, 24000000);
		assert_int_equal(
		    machine.m_uart.u_baud, precise ? 1500000 : 115200);
	}
}

/* Add a device of the DBG2.  `at_gas` is where it says that its address is. */
static void
add_port(unsigned type, unsigned subtype, unsigned at_gas)
{
	put_bytes(used + 1, 38, 2);
	buf[used + 3] = 1;
	put_bytes(used + 12, type, 2);
	put_bytes(used + 14, subtype, 2);
	put_bytes(used + 18, at_gas, 2);
	put_gas(used + 22, 0, 32, 3, 0xfe002000);
	used += 38;
}

static void
begin_dbg2(uint32_t at, uint32_t count)
{
	begin_table("DBG2", 44);
	put_bytes(36, at, 4);
	put_bytes(40, count, 4);
}

/* The second device is a serial port with a driver. */
TEST(console_of_dbg2)
{
	begin_dbg2(44, 2);
	add_port(0x8003, 0, 22); /* a network */
	add_port(0x8000, 3, 22);
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_uart.u_kind, UART_PL011);
	assert_int_equal(machine.m_uart.u_addr, 0xfe002000);
}

/* Offsets and lengths that lead out of the table. */
TEST(wrong_dbg2)
{
	static const struct {
		uint32_t at, count;
		unsigned at_gas, length;
	} cases[] = {
		{ 44, 1, 27, 38 },
		{ 44, 1, 0xffff, 38 },
		{ 44, 1, 22, 39 },
		{ 44, 1, 22, 0 },
		{ 82, 1, 22, 38 },
		{ ~0U, 1, 22, 38 },
		{ 44, 0, 22, 38 },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		begin_dbg2(cases[i].at, cases[i].count);
		add_port(0x8000, 3, cases[i].at_gas);
		put_bytes(45, cases[i].length, 2);
		close_table();
		assert_true(parse_tables());
		assert_int_equal(machine.m_uart.u_kind, UART_NONE);
	}
}
