/*
 * A watchdog that runs is stopped by the accesses that WDAT lists, and by no
 * other.  A damaged table leads to no access beyond its end.
 */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "kern/platform/watchdog.h"
#include "lib/text.h"

#define RSDP     0x1000
#define RSDT     0x2000
#define WDAT     0x3000
#define PORT     0x668
#define HALT_BIT 11

/* Table bytes by address; each table has its own memory. */
static unsigned char rsdp[20], rsdt[40], *wdat;
static size_t wdat_bytes;
static uint32_t port; /* the control register */
static unsigned writes;
static bool locked;

static const void *
map(uint64_t pa, size_t bytes)
{
	if (pa == RSDP)
		return bytes <= sizeof rsdp ? rsdp : NULL;
	if (pa == RSDT)
		return bytes <= sizeof rsdt ? rsdt : NULL;
	return pa == WDAT && bytes <= wdat_bytes ? wdat : NULL;
}

static bool
read_port(const struct acpi_gas *at, unsigned bytes, uint32_t *v)
{
	*v = port;
	return at->ag_space == ACPI_GAS_IO && at->ag_addr == PORT && bytes == 2;
}

static bool
write_port(const struct acpi_gas *at, unsigned bytes, uint32_t v)
{
	writes++;
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

static const char *
found(const unsigned char *t, size_t n)
{
	static const struct watchdog_access access = { read_port, write_port };
	static char said[100];
	struct text text = { said, sizeof said, 0 };
	unsigned char sum = 0;

	free(wdat);
	wdat = exact_copy(t, wdat_bytes = n);
	if (n >= 36)
		finish(wdat, "WDAT", n);
	put(rsdt + 36, WDAT, 4);
	finish(rsdt, "RSDT", sizeof rsdt);
	memset(rsdp, 0, sizeof rsdp);
	memcpy(rsdp, "RSD PTR ", 8);
	put(rsdp + 16, RSDT, 4);
	for (size_t i = 0; i < sizeof rsdp; i++)
		sum = (unsigned char)(sum + rsdp[i]);
	rsdp[8] = (unsigned char)-sum;
	writes = 0;
	acpi_init(RSDP, map);
	watchdog_init(&access);
	said[0] = '\0';
	watchdog_describe(&text);
	return said;
}

static void
a_running_one_is_stopped(void **state)
{
	unsigned char t[200];
	size_t n = make_wdat(t);

	(void)state;
	locked = false;
	port = 0x0042;
	assert_string_equal(found(t, n), "\"watchdog\":\"stopped\",");
	assert_int_equal(port, 0x0842); /* other bits are preserved */
	assert_int_equal(writes, 1);
	assert_string_equal(found(t, n), "\"watchdog\":\"idle\",");
	assert_int_equal(writes, 0);
	locked = true;
	port = 0;
	assert_string_equal(found(t, n), "\"watchdog\":\"running\",");
}

static void
an_unknown_register_is_not_touched(void **state)
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

	(void)state;
	locked = false;
	port = 0;
	for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		make_wdat(t);
		t[changes[i].at] = changes[i].value;
		assert_string_equal(found(t, n), "\"watchdog\":\"unknown\",");
		assert_int_equal(writes, 0);
	}
}

static void
a_cut_table_is_not_read_beyond_its_end(void **state)
{
	unsigned char t[200];
	size_t n = make_wdat(t);

	(void)state;
	locked = false;
	put(t + 64, 0xffffffff, 4);
	for (size_t cut = 36; cut < n; cut++) {
		const char *want = cut < 68   ? ""
		                   : cut < 92 ? "\"watchdog\":\"unknown\","
		                              : "\"watchdog\":\"running\",";

		port = 0;
		assert_string_equal(found(t, cut), want);
		assert_int_equal(port, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_one_is_stopped),
		cmocka_unit_test(an_unknown_register_is_not_touched),
		cmocka_unit_test(a_cut_table_is_not_read_beyond_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
