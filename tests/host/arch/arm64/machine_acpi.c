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

/*
 * Add the root pointer and the XSDT for the tables so far, and parse them.
 * The memory map has all of them.
 */
static bool
parse_tables(void)
{
	static char rsdp[36];
	struct bootinfo *bi = calloc(1, sizeof *bi);
	unsigned char sum = 0;
	unsigned n = ntable;
	bool good;

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
	good = machine_from_acpi(bi);
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

/* As on a server whose redistributors are not contiguous. */
static void
redistributor_for_each_cpu(void **state)
{
	(void)state;
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
static void
most_cpus(void **state)
{
	(void)state;
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
static void
cut_entry(void **state)
{
	(void)state;
	begin_table("APIC", 44);
	add_gicd();
	add_gicc(0, 0x10000000);
	used -= 4;
	close_table();
	assert_true(parse_tables());
	assert_int_equal(machine.m_ncpu, 0);
	assert_int_equal(machine.m_gic, 3);
}

static void
timer_no_ppi(void **state)
{
	(void)state;
	add_gtdt(0xffffffff);
	assert_true(parse_tables());
	assert_int_equal(machine.m_timer_intid, 27);
	assert_non_null(strstr(
	    machine_said, "ACPI: no PPI for the virtual timer: 27 is used\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(redistributor_for_each_cpu),
		cmocka_unit_test(most_cpus),
		cmocka_unit_test(cut_entry),
		cmocka_unit_test(timer_no_ppi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
