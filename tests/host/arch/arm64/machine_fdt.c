/*
 * The machine from a device tree.  The trees of QEMU and firmware are used as
 * they are.  A wrong tree causes no overrun of `machine`.  The parser never
 * reads outside the tree. libfdt builds the trees; each is an allocation of
 * its exact size.
 */
#include "tests/lib/host/machine.h"

#include <stdlib.h>
#include <string.h>

#include <libfdt.h>

#include "kern/platform/bootinfo.h"

static char tree[65536];
static uint64_t ram; /* address of 1 GiB of RAM; 0: none */

static int
add_node(int parent, const char *name, const char *compatible)
{
	int at = fdt_add_subnode(tree, parent, name);

	assert_true(at >= 0);
	if (compatible != NULL)
		assert_int_equal(
		    fdt_setprop_string(tree, at, "compatible", compatible), 0);
	return at;
}

static void
set_cell(int at, const char *name, uint32_t v)
{
	assert_int_equal(fdt_setprop_u32(tree, at, name, v), 0);
}

/* Add n ranges of 1 MiB. */
static void
add_ranges(int at, uint64_t base, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(
		    fdt_appendprop_u64(tree, at, "reg", base + i * 0x100000),
		    0);
		assert_int_equal(
		    fdt_appendprop_u64(tree, at, "reg", 0x100000), 0);
	}
}

static void
add_interrupt(int at, uint32_t type, uint32_t number)
{
	assert_int_equal(fdt_appendprop_u32(tree, at, "interrupts", type), 0);
	assert_int_equal(fdt_appendprop_u32(tree, at, "interrupts", number), 0);
	assert_int_equal(fdt_appendprop_u32(tree, at, "interrupts", 4), 0);
}

static void
start_tree(void)
{
	assert_int_equal(fdt_create_empty_tree(tree, sizeof tree), 0);
	set_cell(0, "#address-cells", 2);
	set_cell(0, "#size-cells", 2);
}

/* libfdt puts a new subnode before the existing ones. */
static void
add_timer(void)
{
	int at = add_node(0, "timer", "arm,armv8-timer");

	for (uint32_t i = 0; i < 4; i++)
		add_interrupt(at, 1, (const uint32_t[]){ 13, 14, 11, 10 }[i]);
}

static int
add_gic(const char *name, uint64_t base, unsigned regions)
{
	int at = add_node(0, name, "arm,gic-v3");

	add_ranges(at, base, 1 + regions);
	set_cell(at, "#interrupt-cells", 3);
	set_cell(at, "#redistributor-regions", regions);
	return at;
}

static bool
parse_tree(void)
{
	struct bootinfo bi = { 0 };
	void *copy;
	bool good;

	assert_int_equal(fdt_pack(tree), 0);
	copy = exact_copy(tree, fdt_totalsize(tree));
	bi.bi_fdt = machine_pa(copy);
	if (ram != 0)
		bootinfo_add(&bi, ram, 1UL << 30, BOOTMEM_FREE);
	machine_reset();
	good = machine_from_fdt(&bi);
	if (good)
		machine_check(&bi);
	free(copy);
	return good;
}

static void
usual_tree(void **state)
{
	int at;

	(void)state;
	start_tree();
	add_timer();
	at = add_node(0, "pmu", "arm,armv8-pmuv3");
	add_interrupt(at, 1, 7);
	at = add_node(0, "pl011@9000000", "arm,pl011");
	add_ranges(at, 0x9000000, 1);
	at = add_node(0, "chosen", NULL);
	fdt_setprop_string(tree, at, "stdout-path", "/pl011@9000000:115200");
	add_gic("intc@8000000", 0x8000000, 1);
	assert_true(parse_tree());
	assert_string_equal(machine_said, "");
	assert_int_equal(machine.m_gic, 3);
	assert_int_equal(machine.m_gicd.r_pa, 0x8000000);
	assert_int_equal(machine.m_ngicr, 1);
	assert_int_equal(machine.m_gicr[0].r_pa, 0x8100000);
	assert_int_equal(machine.m_timer_intid, 27);
	assert_int_equal(machine.m_pmu_intid, 23);
	assert_int_equal(machine.m_uart, UART_PL011);
	assert_int_equal(machine.m_uart_pa, 0x9000000);
}

/* All regions of the first controller count; those of the others do not. */
static void
regions_of_several_nodes(void **state)
{
	(void)state;
	start_tree();
	add_timer();
	add_gic("intc@a0000000", 0xa0000000, 12);
	add_gic("intc@90000000", 0x90000000, 12);
	add_gic("intc@80000000", 0x80000000, 20);
	assert_true(parse_tree());
	assert_int_equal(machine.m_gicd.r_pa, 0x80000000);
	assert_int_equal(machine.m_ngicr, 20);
	assert_int_equal(machine.m_gicr[19].r_pa, 0x80000000 + 20 * 0x100000);
	assert_non_null(strstr(machine_said,
	    "device tree: 3 interrupt controllers: the first one is used\n"));
}

/* Too many regions: one line says so, and the first MACHINE_NGICR are used. */
static void
more_regions_than_cpus(void **state)
{
	(void)state;
	start_tree();
	add_timer();
	add_gic("intc@80000000", 0x80000000, MACHINE_NGICR + 1);
	assert_true(parse_tree());
	assert_int_equal(machine.m_ngicr, MACHINE_NGICR);
	assert_non_null(
	    strstr(machine_said, "regions of redistributors: the first"));
}

/* #redistributor-regions is larger than the number of ranges in "reg". */
static void
regions_without_ranges(void **state)
{
	int at;

	(void)state;
	start_tree();
	add_timer();
	at = add_gic("intc@80000000", 0x80000000, 2);
	set_cell(at, "#redistributor-regions", ~0U);
	assert_true(parse_tree());
	assert_int_equal(machine.m_ngicr, 2);
}

/* Three specifiers of 55555556H cells are 2 cells modulo 2^32. */
static void
interrupt_cells_wrap(void **state)
{
	static const uint32_t wrong[] = { 0x55555556, 0x55555557, 0x80000001,
		~0U, 0, 1, 5, 1000 };

	(void)state;
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		int at;

		start_tree();
		add_timer();
		at = add_gic("intc@80000000", 0x80000000, 1);
		set_cell(at, "#interrupt-cells", wrong[i]);
		assert_true(parse_tree());
		assert_int_equal(machine.m_timer_intid, 27);
		assert_non_null(strstr(machine_said,
		    "device tree: no PPI for the virtual timer: 27 is used\n"));
	}
}

/* An interrupt number that is not a PPI is not enabled. */
static void
no_ppi(void **state)
{
	int at;

	(void)state;
	start_tree();
	at = add_node(0, "timer", "arm,armv8-timer");
	for (unsigned i = 0; i < 4; i++)
		add_interrupt(at, 0, 0xfffffff0);
	at = add_node(0, "pmu", "arm,armv8-pmuv3");
	add_interrupt(at, 0, 7);
	add_gic("intc@80000000", 0x80000000, 1);
	assert_true(parse_tree());
	assert_int_equal(machine.m_timer_intid, 27);
	assert_int_equal(machine.m_pmu_intid, 0);
	assert_non_null(strstr(machine_said, "interrupt, 39, is not a PPI"));
}

/* A console in RAM would overwrite it. */
static void
uart_in_memory(void **state)
{
	int at;

	(void)state;
	start_tree();
	add_timer();
	at = add_node(0, "pl011@40000000", "arm,pl011");
	add_ranges(at, 0x40000000, 1);
	at = add_node(0, "chosen", NULL);
	fdt_setprop_string(tree, at, "stdout-path", "/pl011@40000000");
	add_gic("intc@8000000", 0x8000000, 1);
	ram = 0x40000000;
	assert_true(parse_tree());
	ram = 0;
	assert_int_equal(machine.m_uart, UART_NONE);
	assert_non_null(strstr(machine_said, "UART at 0x40000000 is memory"));
}

/* A tree with one 16550, and no stdout-path, as Firecracker's. */
static void
only_16550(const char *machine_name)
{
	int at;

	start_tree();
	fdt_setprop_string(tree, 0, "compatible", machine_name);
	add_timer();
	at = add_node(0, "uart@40001000", "ns16550a");
	add_ranges(at, 0x40001000, 1);
	add_node(0, "chosen", NULL);
	add_gic("intc@8000000", 0x8000000, 1);
	assert_true(parse_tree());
}

static void
only_uart_of_a_virtual_machine(void **state)
{
	(void)state;
	only_16550("linux,dummy-virt");
	assert_int_equal(machine.m_uart, UART_NS16550);
	assert_int_equal(machine.m_uart_pa, 0x40001000);
	assert_int_equal(machine.m_uart_shift, 0);
	assert_int_equal(machine.m_uart_width, 1);
	/* A board may use its UART for something else. */
	only_16550("acme,board");
	assert_int_equal(machine.m_uart, UART_NONE);
}

/* Boards name their own UART first, and spread its registers. */
static void
registers_of_a_16550(void **state)
{
	static const char names[] = "acme,uart\0ns16550a";
	static const struct {
		uint32_t shift, width;
		enum uart_kind kind;
	} cases[] = {
		{ 2, 4, UART_NS16550 },
		{ 0, 1, UART_NS16550 },
		{ 5, 4, UART_NONE }, /* beyond what is mapped */
		{ UINT32_MAX, 4, UART_NONE },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int at;

		start_tree();
		add_timer();
		at = add_node(0, "serial@0", NULL);
		fdt_setprop(tree, at, "compatible", names, sizeof names);
		add_ranges(at, 0x7000000, 1);
		set_cell(at, "reg-shift", cases[i].shift);
		set_cell(at, "reg-io-width", cases[i].width);
		at = add_node(0, "chosen", NULL);
		fdt_setprop_string(tree, at, "stdout-path", "/serial@0:115200");
		add_gic("intc@8000000", 0x8000000, 1);
		assert_true(parse_tree());
		assert_int_equal(machine.m_uart, cases[i].kind);
		if (cases[i].kind == UART_NONE)
			continue;
		assert_int_equal(machine.m_uart_shift, cases[i].shift);
		assert_int_equal(machine.m_uart_width, cases[i].width);
	}
}

/* If a tree has no GIC, ACPI describes the CPUs. */
static void
no_gic(void **state)
{
	int at;

	(void)state;
	start_tree();
	at = add_node(0, "cpus", NULL);
	set_cell(at, "#address-cells", 1);
	set_cell(at, "#size-cells", 0);
	at = add_node(at, "cpu@1", NULL);
	set_cell(at, "reg", 1);
	assert_false(parse_tree());
	assert_int_equal(machine.m_ncpu, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_tree),
		cmocka_unit_test(regions_of_several_nodes),
		cmocka_unit_test(more_regions_than_cpus),
		cmocka_unit_test(regions_without_ranges),
		cmocka_unit_test(interrupt_cells_wrap),
		cmocka_unit_test(no_ppi),
		cmocka_unit_test(uart_in_memory),
		cmocka_unit_test(only_uart_of_a_virtual_machine),
		cmocka_unit_test(registers_of_a_16550),
		cmocka_unit_test(no_gic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
