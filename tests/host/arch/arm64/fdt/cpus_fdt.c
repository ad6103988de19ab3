/* The CPUs of a device tree: how each starts, and its PMU's interrupt. */
#include "tests/lib/host/arm64/device_tree.h"
#include "tests/lib/host/machine.h"

#include <stdio.h>

#include <libfdt.h>

/* Four CPUs as a Raspberry Pi's: n has PHANDLE + n, waits for RELEASE + 8n. */
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
	start_tree();
	add_timer();
	add_gic("intc@8000000", 0x8000000, 1);
	int all = add_node(0, "cpus", NULL);
	set_cell(all, "#address-cells", 1);
	set_cell(all, "#size-cells", 0);
	for (unsigned n = NCPU; n-- > 0;) {
		char name[32];

		snprintf(name, sizeof name, "cpu@%u", n);
		int at = add_node(
		    fdt_path_offset(tree, "/cpus"), name, "arm,cortex-a72");
		set_cell(at, "reg", n);
		set_cell(at, "phandle", PHANDLE + n);
		fdt_setprop_string(tree, at, "enable-method", "spin-table");
		fdt_setprop_u64(tree, at, "cpu-release-addr", RELEASE + 8 * n);
	}
	tree_ram = RAM;
}

static bool
parse_board(void)
{
	bool good = parse_tree();

	tree_ram = 0;
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
		board_tree();
		int at = add_node(0, "pmu", "arm,cortex-a57-pmu");
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
		board_tree();
		int at = fdt_path_offset(tree, "/timer");
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
		board_tree();
		int at = add_node(0, "psci", "arm,psci");
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
	board_tree();
	add_pmu(2, 2, 0);
	int at = add_node(0, "pmu-a53", "arm,cortex-a53-pmu");
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
	board_tree();
	int at = add_pmu(3, NCPU, 0);
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
	board_tree();
	int at = add_pmu(3, NCPU, 0);
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
