/* A watchdog is stopped by the accesses of WDAT, or WDRT's register, alone. */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "kern/platform/firmware/acpi_watchdog.h"
#include "kern/platform/firmware/watchdog.h"

#define RSDP     0x1000
#define RSDT     0x2000
#define TABLE    0x3000
#define PORT     0x668
#define HALT_BIT 11
#define CONTROL  0xfed80b00
#define NONE     (-1)

/* Table bytes by address; each table has its own memory. */
static unsigned char rsdp[20], rsdt[40], *table;
static size_t table_bytes;
static uint32_t port; /* the control register */
static unsigned writes;
static bool locked;
static uint32_t control; /* of WDRT, at CONTROL */
static bool no_control;
static int last; /* the state that was found, or NONE */

static const void *
map(uint64_t pa, size_t bytes)
{
	if (pa == RSDP)
		return bytes <= sizeof rsdp ? rsdp : NULL;
	if (pa == RSDT)
		return bytes <= sizeof rsdt ? rsdt : NULL;
	return pa == TABLE && bytes <= table_bytes ? table : NULL;
}

void
watchdog_found(const char *kind, enum watchdog_state state)
{
	assert_int_equal(last, NONE);
	assert_int_equal(memcmp(kind + 5, table, 4), 0);
	last = (int)state;
}

static bool
is_control(const struct acpi_gas *at, unsigned bytes)
{
	return at->ag_space == ACPI_GAS_MEMORY && at->ag_addr == CONTROL &&
	       bytes == 4 && !no_control;
}

bool
acpi_reg_read(const struct acpi_gas *at, unsigned bytes, uint32_t *v)
{
	if (is_control(at, bytes)) {
		*v = control;
		return true;
	}
	*v = port;
	return at->ag_space == ACPI_GAS_IO && at->ag_addr == PORT && bytes == 2;
}

bool
acpi_reg_write(const struct acpi_gas *at, unsigned bytes, uint32_t v)
{
	writes++;
	if (is_control(at, bytes)) {
		/* Fired and Trigger read as they are, and act on a 1. */
		assert_int_equal(v & 0x82, 0);
		if (!locked)
			control = v | (control & 2);
		return true;
	}
	if (!locked)
		port = v;
	return at->ag_space == ACPI_GAS_IO && at->ag_addr == PORT && bytes == 2;
}

static void
put(unsigned char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static void
finish(unsigned char *t, const char *signature, size_t n)
{
	unsigned char sum = 0;

	memcpy(t, signature, 4);
	put(t + 4, n, 4);
	t[9] = 0;
	for (size_t i = 0; i < n; i++)
		sum = (unsigned char)(sum + t[i]);
	t[9] = (unsigned char)-sum;
}

/* Entries of a bit at HALT_BIT of a port with 16 bits. */
static void
put_entry(unsigned char *e, unsigned action, unsigned insn, unsigned value)
{
	e[0] = (unsigned char)action;
	e[1] = (unsigned char)insn;
	e[4] = ACPI_GAS_IO;
	e[5] = 16;
	e[6] = HALT_BIT;
	e[7] = 2;
	put(e + 8, PORT, 8);
	put(e + 16, value, 4);
	put(e + 20, 1, 4);
}

/* The table of a part whose timer halts while the bit is set. */
static size_t
make_wdat(unsigned char *t)
{
	memset(t, 0, 68 + 3 * 24);
	put(t + 36, 32, 4);
	put(t + 64, 3, 4);
	put_entry(t + 68, 8, 0, 0);
	put_entry(t + 92, 9, 0x82, 0); /* start it */
	put_entry(t + 116, 11, 0x82, 1);
	return 68 + 3 * 24;
}

static int
found(const char *signature, const unsigned char *t, size_t n)
{
	unsigned char sum = 0;

	free(table);
	table = exact_copy(t, table_bytes = n);
	if (n >= 36)
		finish(table, signature, n);
	put(rsdt + 36, TABLE, 4);
	finish(rsdt, "RSDT", sizeof rsdt);
	memset(rsdp, 0, sizeof rsdp);
	memcpy(rsdp, "RSD PTR ", 8);
	put(rsdp + 16, RSDT, 4);
	for (size_t i = 0; i < sizeof rsdp; i++)
		sum = (unsigned char)(sum + rsdp[i]);
	rsdp[8] = (unsigned char)-sum;
	writes = 0;
	last = NONE;
	acpi_init(RSDP, map);
	acpi_watchdog_init();
	return last;
}

TEST(a_running_one_is_stopped)
{
	unsigned char t[200];
	size_t n = make_wdat(t);

	locked = false;
	port = 0x0042;
	assert_int_equal(found("WDAT", t, n), WATCHDOG_STOPPED);
	assert_int_equal(port, 0x0842); /* other bits are preserved */
	assert_int_equal(writes, 1);
	assert_int_equal(found("WDAT", t, n), WATCHDOG_IDLE);
	assert_int_equal(writes, 0);
	locked = true;
	port = 0;
	assert_int_equal(found("WDAT", t, n), WATCHDOG_RUNNING);
}

TEST(an_unknown_register_is_not_touched)
{
	static const struct {
		unsigned at;
		unsigned char value;
	} changes[] = {
		{ 68, 7 },    /* no such action */
		{ 69, 1 },    /* a countdown */
		{ 72, 2 },    /* PCI */
		{ 74, 16 },   /* a bit beyond the register */
		{ 75, 4 },    /* a quadword */
		{ 76, 0x69 }, /* another port */
	};
	unsigned char t[200];
	size_t n = make_wdat(t);

	locked = false;
	port = 0;
	for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		make_wdat(t);
		t[changes[i].at] = changes[i].value;
		assert_int_equal(found("WDAT", t, n), WATCHDOG_UNKNOWN);
		assert_int_equal(writes, 0);
	}
}

TEST(a_cut_table_is_not_read_beyond_its_end)
{
	unsigned char t[200];
	size_t n = make_wdat(t);

	locked = false;
	put(t + 64, 0xffffffff, 4);
	for (size_t cut = 36; cut < n; cut++) {
		int want = cut < 68   ? NONE
		           : cut < 92 ? WATCHDOG_UNKNOWN
		                      : WATCHDOG_RUNNING;

		port = 0;
		assert_int_equal(found("WDAT", t, cut), want);
		assert_int_equal(port, 0);
	}
}

/* The control register: 1 runs, 2 fired, 4 power off, 8 disabled. */
TEST(the_register_of_wdrt)
{
	static const struct {
		uint32_t before, after;
		int want;
	} cases[] = {
		{ 0x01, 0x00, WATCHDOG_STOPPED },
		{ 0x07, 0x06, WATCHDOG_STOPPED },
		{ 0x04, 0x04, WATCHDOG_IDLE },
		{ 0x09, 0x09, WATCHDOG_IDLE },
		{ ~0U, ~0U, WATCHDOG_UNKNOWN },
	};
	unsigned char t[71] = { 0 };

	t[36] = ACPI_GAS_MEMORY;
	t[37] = 32;
	put(t + 40, CONTROL, 8);
	locked = false;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		control = cases[i].before;
		assert_int_equal(found("WDRT", t, 71), cases[i].want);
		assert_int_equal(control, cases[i].after);
	}
	control = 1;
	assert_int_equal(found("WDRT", t, 70), NONE);
	locked = true;
	assert_int_equal(found("WDRT", t, 71), WATCHDOG_RUNNING);
	no_control = true;
	assert_int_equal(found("WDRT", t, 71), WATCHDOG_UNKNOWN);
	no_control = false;
	put(t + 40, 0, 8);
	assert_int_equal(found("WDRT", t, 71), WATCHDOG_UNKNOWN);
}
