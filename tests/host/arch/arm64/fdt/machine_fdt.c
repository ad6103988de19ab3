/*
 * The machine from a device tree.  The trees of QEMU and firmware are used as
 * they are.  A wrong tree causes no overrun of `machine`.  The parser never
 * reads outside the tree. libfdt builds the trees; each is an allocation of
 * its exact size.
 */
#include "tests/lib/host/arm64/device_tree.h"
#include "tests/lib/host/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libfdt.h>

#include "kern/platform/bootinfo.h"

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
	start_tree();
	add_timer();
	int at = add_node(0, "pmu", "arm,armv8-pmuv3");
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
	start_tree();
	add_timer();
	int at = add_gic("intc@80000000", 0x80000000, 2);
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
		start_tree();
		add_timer();
		int at = add_gic("intc@80000000", 0x80000000, 1);
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
	start_tree();
	int at = add_node(0, "timer", "arm,armv8-timer");
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

/* The console of a Raspberry Pi 4, and its power block, after a bus. */
TEST(raspberry_pi)
{
	static const char pm[] = "brcm,bcm2711-pm\0brcm,bcm2835-pm-wdt";

	start_tree();
	add_timer();
	int at = add_node(0, "soc", "simple-bus");
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
	start_tree();
	/* Two strings, the second perhaps empty. */
	if (machine_name != NULL)
		fdt_setprop(tree, 0, "compatible", machine_name,
		    (int)(strlen(machine_name) + 1 +
			  strlen(machine_name + strlen(machine_name) + 1) + 1));
	add_timer();
	int at = add_node(0, "uart@40001000", "ns16550a");
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
		start_tree();
		add_timer();
		int at = add_node(0, "serial@0", NULL);
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
	start_tree();
	add_timer();
	int at = add_node(0, "intc@b000000", NULL);
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

		n += strlen(first + n) + 1;
		start_tree();
		add_timer();
		/* There may be many UARTs before that of stdout-path. */
		int at = add_node(0, "serial@9000000", NULL);
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
	start_tree();
	int at = add_node(0, "cpus", NULL);
	set_cell(at, "#address-cells", 1);
	set_cell(at, "#size-cells", 0);
	at = add_node(at, "cpu@1", NULL);
	set_cell(at, "reg", 1);
	assert_false(parse_tree());
	assert_int_equal(machine.m_ncpu, 0);
}
