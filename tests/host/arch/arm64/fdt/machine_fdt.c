/*
 * The machine from a device tree.  The trees of QEMU and firmware are used as
 * they are.  A wrong tree causes no overrun of `machine`.  The parser never
 * reads outside the tree. libfdt builds the trees; each is an allocation of
 * its exact size.
 */
#include "tests/lib/host/machine.h"

#include <stdio.h>
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
		machine_check(&bi, 0);
	free(copy);
	return good;
}

/* The emulator's list of the events that its PMU counts. */
TEST(list_of_events)
{
	int at;

	for (unsigned n = 0; n <= 3; n++) {
		start_tree();
		add_gic("intc@8000000", 0x8000000, 1);
		at = add_node(0, "pmu", "arm,armv8-pmuv3");
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(
			    fdt_appendprop_u64(
				tree, at, "qemu,counted-events", 0x8020101 + i),
			    0);
		assert_true(parse_tree());
		assert_int_equal(machine.m_lists_events, n == 2);
		if (n == 2) {
			assert_int_equal(machine.m_events[0], 0x8020101);
			assert_int_equal(machine.m_events[1], 0x8020102);
		}
	}
}

TEST(usual_tree)
{
	int at;

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
	assert_int_equal(machine.m_uart.u_kind, UART_PL011);
	assert_int_equal(machine.m_uart.u_addr, 0x9000000);
}

/* All regions of the first controller count; those of the others do not. */
TEST(regions_of_several_nodes)
{
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
TEST(more_regions_than_cpus)
{
	start_tree();
	add_timer();
	add_gic("intc@80000000", 0x80000000, MACHINE_NGICR + 1);
	assert_true(parse_tree());
	assert_int_equal(machine.m_ngicr, MACHINE_NGICR);
	assert_non_null(
	    strstr(machine_said, "regions of redistributors: the first"));
}

/* #redistributor-regions is larger than the number of ranges in "reg". */
TEST(regions_without_ranges)
{
	int at;

	start_tree();
	add_timer();
	at = add_gic("intc@80000000", 0x80000000, 2);
	set_cell(at, "#redistributor-regions", ~0U);
	assert_true(parse_tree());
	assert_int_equal(machine.m_ngicr, 2);
}

/* Three specifiers of 55555556H cells are 2 cells modulo 2^32. */
TEST(interrupt_cells_wrap)
{
	static const uint32_t wrong[] = { 0x55555556, 0x55555557, 0x80000001,
		~0U, 0, 1, 5, 1000 };

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
TEST(no_ppi)
{
	int at;

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
	assert_string_equal(machine_said,
	    "cpu: device tree: the PMU has 1 interrupts for 0 CPUs: what is "
	    "left over is not used\n"
	    "cpu: device tree: no PPI for the virtual timer: 27 is used\n");
}

/*
 * A tree of four CPUs, as a Raspberry Pi's: CPU n has the phandle PHANDLE + n,
 * and waits for the word RELEASE + 8n.
 */
#define NCPU    4
#define PHANDLE 0x22
#define RAM     0x40000000U
#define RELEASE (RAM + 0xd8)

static int
find_cpu(unsigned n)
{
	char path[32];

	snprintf(path, sizeof path, "/cpus/cpu@%u", n);
	return fdt_path_offset(tree, path);
}

static void
board_tree(void)
{
	int all;

	start_tree();
	add_timer();
	add_gic("intc@8000000", 0x8000000, 1);
	all = add_node(0, "cpus", NULL);
	set_cell(all, "#address-cells", 1);
	set_cell(all, "#size-cells", 0);
	for (unsigned n = NCPU; n-- > 0;) {
		char name[32];
		int at;

		snprintf(name, sizeof name, "cpu@%u", n);
		at = add_node(
		    fdt_path_offset(tree, "/cpus"), name, "arm,cortex-a72");
		set_cell(at, "reg", n);
		set_cell(at, "phandle", PHANDLE + n);
		fdt_setprop_string(tree, at, "enable-method", "spin-table");
		fdt_setprop_u64(tree, at, "cpu-release-addr", RELEASE + 8 * n);
	}
	ram = RAM;
}

static bool
parse_board(void)
{
	bool good = parse_tree();

	ram = 0;
	return good;
}

/* A PMU with n SPIs from 16 on.  That of CPU (first + i) % NCPU is 16 + i.
 */
static int
add_pmu(unsigned n, unsigned naffinity, unsigned first)
{
	int at = add_node(0, "pmu", "arm,cortex-a72-pmu");

	for (uint32_t i = 0; i < n; i++)
		add_interrupt(at, 0, 16 + i);
	for (uint32_t i = 0; i < naffinity; i++)
		fdt_appendprop_u32(tree, at, "interrupt-affinity",
		    PHANDLE + (first + i) % NCPU);
	return at;
}

static void
expect_intids(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	assert_int_equal(machine.m_ncpu, NCPU);
	assert_int_equal(machine_pmu_intid(0), a);
	assert_int_equal(machine_pmu_intid(1), b);
	assert_int_equal(machine_pmu_intid(2), c);
	assert_int_equal(machine_pmu_intid(3), d);
}

TEST(spi_of_each_cpu)
{
	board_tree();
	add_pmu(NCPU, NCPU, 0);
	assert_true(parse_board());
	assert_string_equal(machine_said, "");
	expect_intids(48, 49, 50, 51);
}

/* The name of the core's PMU, and not that of the cache that cores share. */
TEST(names_of_pmus)
{
	static const struct {
		const char *compatible;
		uint32_t intid;
	} cases[] = {
		{ "arm,cortex-a55-pmu", 23 },
		{ "brcm,vulcan-pmu", 23 },
		{ "cavium,thunder-pmu", 23 },
		{ "nvidia,carmel-pmu", 23 },
		{ "nvidia,denver-pmu", 23 },
		{ "apm,potenza-pmu", 23 },
		{ "arm,dsu-pmu", 0 },
		{ "fsl,imx8mm-ddr-pmu", 0 },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		start_tree();
		add_timer();
		add_interrupt(add_node(0, "pmu", cases[i].compatible), 1, 7);
		add_gic("intc@80000000", 0x80000000, 1);
		assert_true(parse_tree());
		assert_int_equal(machine.m_pmu_intid, cases[i].intid);
	}
}

/* An entry of interrupts-extended: the controller, then the specifier. */
static void
add_extended(int at, uint32_t controller, uint32_t type, uint32_t number)
{
	const uint32_t cells[] = { controller, type, number, 4 };

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(fdt_appendprop_u32(
				     tree, at, "interrupts-extended", cells[i]),
		    0);
}

/* As Renesas writes them, for the timer, too. */
TEST(interrupts_of_a_named_controller)
{
	for (uint32_t other = 0; other < 2; other++) {
		int at;

		board_tree();
		at = add_node(0, "pmu", "arm,cortex-a57-pmu");
		for (uint32_t i = 0; i < NCPU; i++) {
			add_extended(at, 1 + other, 0, 16 + i);
			fdt_appendprop_u32(
			    tree, at, "interrupt-affinity", PHANDLE + i);
		}
		at = fdt_path_offset(tree, "/timer");
		assert_int_equal(fdt_delprop(tree, at, "interrupts"), 0);
		for (uint32_t i = 0; i < 4; i++)
			add_extended(at, 1 + other, 1,
			    (const uint32_t[]){ 13, 14, 9, 10 }[i]);
		set_cell(fdt_path_offset(tree, "/intc@8000000"), "phandle", 1);
		assert_true(parse_board());
		if (other == 0) {
			assert_string_equal(machine_said, "");
			assert_int_equal(machine.m_timer_intid, 25);
			expect_intids(48, 49, 50, 51);
		} else {
			assert_int_equal(machine.m_timer_intid, 27);
			expect_intids(0, 0, 0, 0);
		}
	}
}

/* A specifier of another controller has another size, or none is known. */
TEST(interrupts_of_several_controllers)
{
	for (uint32_t cells = 0; cells < 2; cells++) {
		int at;

		board_tree();
		at = fdt_path_offset(tree, "/timer");
		assert_int_equal(fdt_delprop(tree, at, "interrupts"), 0);
		for (uint32_t i = 0; i < 2; i++)
			fdt_appendprop_u32(
			    tree, at, "interrupts-extended", 2 + i * 7);
		for (uint32_t i = 0; i < 3; i++)
			add_extended(at, 1, 1, 14 + i);
		set_cell(fdt_path_offset(tree, "/intc@8000000"), "phandle", 1);
		at = add_node(0, "other", "some,intc");
		set_cell(at, "phandle", 2);
		set_cell(at, "#interrupt-cells", cells);
		assert_true(parse_board());
		assert_int_equal(machine.m_timer_intid, cells == 1 ? 31 : 27);
	}
}

/* Before version 0.2 the tree gives each function its number. */
TEST(psci_0_1)
{
	static const char both[] = "arm,psci-0.2\0arm,psci";

	for (unsigned i = 0; i < 2; i++) {
		int at;

		board_tree();
		at = add_node(0, "psci", "arm,psci");
		if (i == 1)
			fdt_setprop(tree, at, "compatible", both, sizeof both);
		fdt_setprop_string(tree, at, "method", "smc");
		set_cell(at, "cpu_on", 0x95c10002);
		assert_true(parse_board());
		assert_int_equal(machine.m_psci, PSCI_SMC);
		assert_int_equal(
		    machine.m_psci_cpu_on, i == 0 ? 0x95c10002 : 0);
	}
}

/* The affinity counts, not the order. */
TEST(spis_in_another_order)
{
	board_tree();
	add_pmu(NCPU, NCPU, 1);
	assert_true(parse_board());
	assert_string_equal(machine_said, "");
	expect_intids(51, 48, 49, 50);
}

/* Two PMU nodes, as on a machine with two core types. */
TEST(spis_of_two_nodes)
{
	int at;

	board_tree();
	add_pmu(2, 2, 0);
	at = add_node(0, "pmu-a53", "arm,cortex-a53-pmu");
	for (uint32_t i = 0; i < 2; i++) {
		add_interrupt(at, 0, 26 + i);
		fdt_appendprop_u32(
		    tree, at, "interrupt-affinity", PHANDLE + 2 + i);
	}
	assert_true(parse_board());
	assert_string_equal(machine_said, "");
	expect_intids(48, 49, 58, 59);
}

/* Without the property the order of the CPUs counts, as for Linux. */
TEST(affinity_missing)
{
	board_tree();
	add_pmu(NCPU, 0, 0);
	assert_true(parse_board());
	assert_string_equal(machine_said,
	    "cpu: device tree: the PMU has no interrupt-affinity: its "
	    "interrupts go to the CPUs in order\n");
	expect_intids(48, 49, 50, 51);
}

#define NO_OVERFLOW(cpu)                                                       \
	"cpu: device tree: the PMU's interrupt of CPU " cpu                    \
	": overflows do not interrupt\n"

/* A CPU without an interrupt cannot count like the others. */
TEST(wrong_number_of_affinities)
{
	board_tree();
	add_pmu(NCPU, 3, 0);
	assert_true(parse_board());
	assert_string_equal(machine_said,
	    "cpu: device tree: the PMU has 4 interrupts for 3 CPUs: what is "
	    "left over is not used\n" NO_OVERFLOW("0x3 (0) is absent"));
	expect_intids(0, 0, 0, 0);
	board_tree();
	add_pmu(3, NCPU, 0);
	assert_true(parse_board());
	assert_string_equal(machine_said,
	    "cpu: device tree: the PMU has 3 interrupts for 4 CPUs: what is "
	    "left over is not used\n" NO_OVERFLOW("0x3 (0) is absent"));
	expect_intids(0, 0, 0, 0);
}

TEST(ppi_among_spis)
{
	int at;

	board_tree();
	at = add_pmu(3, NCPU, 0);
	add_interrupt(at, 1, 7);
	assert_true(parse_board());
	assert_string_equal(machine_said,
	    "cpu: device tree: the PMU's interrupt 23 is a PPI among SPIs: it "
	    "is not used\n" NO_OVERFLOW("0x3 (0) is absent"));
	expect_intids(0, 0, 0, 0);
}

/* A CPU that is disabled is not used, nor is its interrupt. */
TEST(affinity_of_an_unknown_cpu)
{
	board_tree();
	add_pmu(NCPU, NCPU, 0);
	fdt_setprop_string(tree, find_cpu(3), "status", "disabled");
	assert_true(parse_board());
	assert_string_equal(machine_said,
	    "cpu: device tree: the PMU's interrupt-affinity names 0x25, no "
	    "enabled CPU: its interrupt 51 is not used\n");
	assert_int_equal(machine.m_ncpu, 3);
	assert_int_equal(machine_pmu_intid(2), 50);
}

TEST(spi_of_two_cpus)
{
	int at;

	board_tree();
	at = add_pmu(3, NCPU, 0);
	add_interrupt(at, 0, 17);
	assert_true(parse_board());
	assert_string_equal(
	    machine_said, NO_OVERFLOW("0x3 (49) is also another CPU's"));
	expect_intids(0, 0, 0, 0);
}

TEST(release_words)
{
	board_tree();
	assert_true(parse_board());
	assert_string_equal(machine_said, "");
	assert_int_equal(machine.m_ncpu, NCPU);
	for (unsigned i = 0; i < NCPU; i++) {
		assert_true(machine_cpu(i)->mu_spins);
		assert_int_equal(machine_cpu(i)->mu_release, RELEASE + 8 * i);
	}
}

/* All CPUs may wait for one word: arch/arm64/dev/spin_table.c. */
TEST(one_release_word)
{
	board_tree();
	for (unsigned i = 0; i < NCPU; i++)
		fdt_setprop_u64(tree, find_cpu(i), "cpu-release-addr", RELEASE);
	assert_true(parse_board());
	assert_string_equal(machine_said, "");
	assert_int_equal(machine.m_ncpu, NCPU);
	for (unsigned i = 0; i < NCPU; i++)
		assert_int_equal(machine_cpu(i)->mu_release, RELEASE);
}

/* CPU 2 is left out, and the others are used. */
static void
expect_without_cpu2(const char *why)
{
	assert_true(parse_board());
	assert_string_equal(machine_said, why);
	assert_int_equal(machine.m_ncpu, NCPU - 1);
	assert_null(machine_cpu(2));
	assert_int_equal(machine_cpu(3)->mu_release, RELEASE + 24);
	assert_int_equal(machine_pmu_intid(3), 51);
}

TEST(bad_release_word)
{
	board_tree();
	add_pmu(NCPU, NCPU, 0);
	fdt_delprop(tree, find_cpu(2), "cpu-release-addr");
	expect_without_cpu2("cpu: device tree: CPU 0x2 has no "
			    "cpu-release-addr (0): it is not started: correct "
			    "the tree\n");
	board_tree();
	add_pmu(NCPU, NCPU, 0);
	fdt_setprop_u64(tree, find_cpu(2), "cpu-release-addr", 0x20000000);
	expect_without_cpu2("cpu: device tree: CPU 0x2 has a cpu-release-addr "
			    "outside memory (0x20000000): it is not started: "
			    "correct the tree\n");
	board_tree();
	add_pmu(NCPU, NCPU, 0);
	fdt_setprop_u64(tree, find_cpu(2), "cpu-release-addr", RELEASE + 20);
	expect_without_cpu2("cpu: device tree: CPU 0x2 has a misaligned "
			    "cpu-release-addr (0x400000ec): it is not started: "
			    "correct the tree\n");
}

/* The boot CPU runs already. */
TEST(boot_cpu_without_release_word)
{
	board_tree();
	fdt_delprop(tree, find_cpu(0), "cpu-release-addr");
	assert_true(parse_board());
	assert_string_equal(machine_said, "");
	assert_int_equal(machine.m_ncpu, NCPU);
}

/* The method may be that of all CPUs.  PSCI needs no word. */
TEST(method_of_all_cpus)
{
	board_tree();
	fdt_setprop_string(tree, fdt_path_offset(tree, "/cpus"),
	    "enable-method", "spin-table");
	fdt_delprop(tree, find_cpu(1), "enable-method");
	fdt_setprop_string(tree, find_cpu(2), "enable-method", "psci");
	fdt_delprop(tree, find_cpu(2), "cpu-release-addr");
	assert_true(parse_board());
	assert_string_equal(machine_said, "");
	assert_true(machine_cpu(1)->mu_spins);
	assert_false(machine_cpu(2)->mu_spins);
}

/* The console of a Raspberry Pi 4, and its power block, after a bus. */
TEST(raspberry_pi)
{
	static const char pm[] = "brcm,bcm2711-pm\0brcm,bcm2835-pm-wdt";
	int at;

	start_tree();
	add_timer();
	at = add_node(0, "soc", "simple-bus");
	set_cell(at, "#address-cells", 1);
	set_cell(at, "#size-cells", 1);
	for (unsigned i = 0; i < 4; i++)
		fdt_appendprop_u32(tree, at, "ranges",
		    (const uint32_t[]){
			0x7e000000, 0, 0xfe000000, 0x1800000 }[i]);
	at = add_node(at, "serial@7e215040", "brcm,bcm2835-aux-uart");
	fdt_appendprop_u32(tree, at, "reg", 0x7e215040);
	fdt_appendprop_u32(tree, at, "reg", 0x40);
	at = add_node(fdt_path_offset(tree, "/soc"), "watchdog@7e100000", NULL);
	fdt_setprop(tree, at, "compatible", pm, sizeof pm);
	fdt_appendprop_u32(tree, at, "reg", 0x7e100000);
	fdt_appendprop_u32(tree, at, "reg", 0x114);
	at = add_node(0, "aliases", NULL);
	fdt_setprop_string(tree, at, "serial1", "/soc/serial@7e215040");
	at = add_node(0, "chosen", NULL);
	fdt_setprop_string(tree, at, "stdout-path", "serial1:115200n8");
	add_gic("intc@8000000", 0x8000000, 1);
	assert_true(parse_tree());
	assert_string_equal(machine_said, "");
	assert_int_equal(machine.m_uart.u_kind, UART_BCM_AUX);
	assert_int_equal(machine.m_uart.u_addr, 0xfe215040);
	assert_int_equal(machine.m_uart.u_shift, 2);
	assert_int_equal(machine.m_uart.u_width, 4);
	assert_int_equal(machine.m_bcm_pm, 0xfe100000);
	assert_int_equal(machine.m_nwatchdog, 1);
	assert_int_equal(machine.m_watchdog[0].wg_kind, MACHINE_BCM2835);
	assert_int_equal(machine.m_watchdog[0].wg_pa, 0xfe100000);
}

/* Each kind by its name; a disabled one is left out, and a ninth. */
TEST(watchdogs)
{
	static const char *const names[] = { "arm,sbsa-gwdt", "arm,sp805",
		"snps,dw-wdt", "arm,sp805" };
	static const enum machine_watchdog_kind kinds[] = { MACHINE_SBSA,
		MACHINE_SP805, MACHINE_DESIGNWARE };
	char name[32];
	int at;

	start_tree();
	add_timer();
	add_gic("intc@8000000", 0x8000000, 1);
	for (unsigned i = 10; i < 16; i++) {
		snprintf(name, sizeof name, "watchdog@%u", i);
		add_ranges(add_node(0, name, names[0]), 0x100000 * i, 2);
	}
	for (unsigned i = 4; i-- > 0;) { /* libfdt puts a new node first */
		snprintf(name, sizeof name, "watchdog@%u", i);
		at = add_node(0, name, names[i]);
		add_ranges(at, 0x1000 * (i + 1), 2);
		if (i == 3)
			fdt_setprop_string(tree, at, "status", "disabled");
	}
	assert_true(parse_tree());
	assert_int_equal(machine.m_nwatchdog, MACHINE_NWATCHDOG);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(machine.m_watchdog[i].wg_kind, kinds[i]);
		assert_int_equal(machine.m_watchdog[i].wg_pa, 0x1000 * (i + 1));
	}
}

/* The first host bridge, with its windows for ports and memory. */
TEST(host_bridge)
{
	/* phys.hi, two cells of bus address, two of ours, two of length. */
	static const uint32_t ranges[] = { 0x1000000, 0, 0, 0, 0x3eff0000, 0,
		0x10000, 0x2000000, 0, 0x10000000, 0, 0x20000000, 0, 0x2eff0000,
		0x42000000, 0, 0x50000000, 0, 0x60000000, 0, 0x1000, /* end */
		0x3000000 };
	const struct machine_pci *pci = &machine.m_pci;
	int at;

	start_tree();
	add_timer();
	for (unsigned i = 0; i < 2; i++) { /* libfdt puts a new node first */
		at = add_node(
		    0, i == 0 ? "pcie@2" : "pcie@1", "pci-host-ecam-generic");
		add_ranges(at, i == 0 ? 0x7000000 : 0x4010000000, 1);
		for (unsigned k = 0; k < sizeof ranges / 4; k++)
			fdt_appendprop_u32(tree, at, "ranges", ranges[k]);
	}
	add_gic("intc@8000000", 0x8000000, 1);
	assert_true(parse_tree());
	assert_true(pci->hb_ecam.r_pa == 0x4010000000);
	assert_int_equal(pci->hb_ecam.r_bytes, 0x100000);
	assert_int_equal(pci->hb_io.pn_pa, 0x3eff0000);
	assert_int_equal(pci->hb_io.pn_bus, 0);
	assert_int_equal(pci->hb_io.pn_bytes, 0x10000);
	assert_int_equal(pci->hb_memory.pn_bus, 0x10000000);
	assert_int_equal(pci->hb_memory.pn_pa, 0x20000000);
}

/* A tree with one 16550, and no stdout-path, as Firecracker's. */
static void
only_16550(const char *machine_name)
{
	int at;

	start_tree();
	/* Two strings, the second perhaps empty. */
	if (machine_name != NULL)
		fdt_setprop(tree, 0, "compatible", machine_name,
		    (int)(strlen(machine_name) + 1 +
			  strlen(machine_name + strlen(machine_name) + 1) + 1));
	add_timer();
	at = add_node(0, "uart@40001000", "ns16550a");
	add_ranges(at, 0x40001000, 1);
	add_node(0, "chosen", NULL);
	add_gic("intc@8000000", 0x8000000, 1);
	assert_true(parse_tree());
}

TEST(only_uart_of_a_virtual_machine)
{
	only_16550("linux,dummy-virt\0");
	assert_int_equal(machine.m_uart.u_kind, UART_16550);
	assert_int_equal(machine.m_uart.u_addr, 0x40001000);
	assert_int_equal(machine.m_uart.u_shift, 0);
	assert_int_equal(machine.m_uart.u_width, 1);
	/* A board may use its UART for something else. */
	only_16550("acme,board\0");
	assert_int_equal(machine.m_uart.u_kind, UART_NONE);
}

/* Xen's guest has a Generic UART, if it is configured to (vpl011). */
TEST(xen)
{
	only_16550("xen,xenvm-4.20\0xen,xenvm");
	assert_int_equal(machine.m_uart.u_kind, UART_16550);
	assert_true(machine.m_virtual);
	/* As Xen itself makes the tree (dom0less): the root has no name. */
	only_16550(NULL);
	assert_int_equal(machine.m_uart.u_kind, UART_16550);
}

/* Boards name their own UART first, and spread its registers. */
TEST(registers_of_a_16550)
{
	static const char names[] = "acme,uart\0ns16550a";
	static const struct {
		uint32_t shift, width;
		enum uart_kind kind;
	} cases[] = {
		{ 2, 4, UART_16550 },
		{ 0, 1, UART_16550 },
		{ 5, 4, UART_NONE }, /* beyond what is mapped */
		{ UINT32_MAX, 4, UART_NONE },
	};

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
		assert_int_equal(machine.m_uart.u_kind, cases[i].kind);
		if (cases[i].kind == UART_NONE)
			continue;
		assert_int_equal(machine.m_uart.u_shift, cases[i].shift);
		assert_int_equal(machine.m_uart.u_width, cases[i].width);
	}
}

TEST(gic_of_a_vendor)
{
	int at;

	start_tree();
	add_timer();
	at = add_node(0, "intc@b000000", NULL);
	fdt_setprop(tree, at, "compatible", "acme,gic\0arm,gic-400", 21);
	add_ranges(at, 0xb000000, 2);
	assert_true(parse_tree());
	assert_int_equal(machine.m_gic, 2);
	assert_int_equal(machine.m_gicc.r_pa, 0xb100000);
}

/* Every driver is found by its name, even after a vendor's own. */
TEST(uart_of_each_name)
{
	static const struct {
		const char *compatible;
		enum uart_kind kind;
	} cases[] = {
		{ "fsl,ns16550\0ns16550a", UART_16550 },
		{ "rockchip,rk3399-uart\0snps,dw-apb-uart", UART_16550 },
		{ "nvidia,tegra210-uart\0nvidia,tegra20-uart", UART_16550 },
		{ "ti,am64-uart\0ti,am654-uart", UART_16550_32 },
		{ "mediatek,mt8173-uart\0mediatek,mt6577-uart", UART_16550_32 },
		{ "arm,sbsa-uart\0arm,pl011", UART_SBSA },
		{ "xlnx,zynqmp-uart\0cdns,uart-r1p12", UART_CADENCE },
		{ "fsl,imx8mm-uart\0fsl,imx6q-uart", UART_IMX },
		{ "fsl,imx93-lpuart\0fsl,imx7ulp-lpuart", UART_LPUART },
		{ "amlogic,meson-g12a-uart\0amlogic,meson-ao-uart",
		    UART_MESON },
		{ "marvell,armada-3700-uart\0", UART_ARMADA },
		{ "qcom,geni-debug-uart\0", UART_GENI },
		{ "qcom,msm-uartdm-v1.4\0qcom,msm-uartdm", UART_UARTDM },
		{ "renesas,scif-r8a774a1\0renesas,rcar-gen3-scif", UART_SCIF },
		{ "acme,uart\0acme,uart-2", UART_NONE },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *first = cases[i].compatible;
		size_t n = strlen(first) + 1;
		int at;

		n += strlen(first + n) + 1;
		start_tree();
		add_timer();
		/* There may be many UARTs before that of stdout-path. */
		at = add_node(0, "serial@9000000", NULL);
		fdt_setprop(tree, at, "compatible", first, (int)n);
		add_ranges(at, 0x9000000, 1);
		for (unsigned j = 0; j < 6; j++) {
			char name[32];

			snprintf(name, sizeof name, "serial@800%u000", j);
			add_ranges(add_node(0, name, "arm,pl011"),
			    0x8000000 + j * 0x1000, 1);
		}
		at = add_node(0, "chosen", NULL);
		fdt_setprop_string(tree, at, "stdout-path", "/serial@9000000");
		add_gic("intc@8000000", 0x8000000, 1);
		assert_true(parse_tree());
		assert_int_equal(machine.m_uart.u_kind, cases[i].kind);
		if (cases[i].kind != UART_NONE)
			assert_int_equal(machine.m_uart.u_addr, 0x9000000);
		assert_string_equal(machine.m_no_driver,
		    cases[i].kind == UART_NONE ? first : "");
	}
}

/* If a tree has no GIC, ACPI describes the CPUs. */
/* A tree whose header is wrong, or says at any byte that the tree ends. */
TEST(cut_tree)
{
	struct bootinfo bi = { 0 };
	char *copy;

	start_tree();
	add_timer();
	add_node(0, "chosen", NULL);
	add_gic("intc@8000000", 0x8000000, 1);
	assert_int_equal(fdt_pack(tree), 0);
	for (uint32_t n = FDT_V17_SIZE; n < fdt_totalsize(tree); n++) {
		copy = exact_copy(tree, n);
		fdt_set_totalsize(copy, n);
		bi.bi_fdt = machine_pa(copy);
		machine_reset();
		machine_from_fdt(&bi);
		free(copy);
	}
	copy = exact_copy(tree, fdt_totalsize(tree));
	bi.bi_fdt = machine_pa(copy);
	machine_reset();
	assert_true(machine_from_fdt(&bi));
	fdt_set_magic(copy, 0);
	machine_reset();
	assert_false(machine_from_fdt(&bi));
	free(copy);
}

TEST(no_gic)
{
	int at;

	start_tree();
	at = add_node(0, "cpus", NULL);
	set_cell(at, "#address-cells", 1);
	set_cell(at, "#size-cells", 0);
	at = add_node(at, "cpu@1", NULL);
	set_cell(at, "reg", 1);
	assert_false(parse_tree());
	assert_int_equal(machine.m_ncpu, 0);
}
