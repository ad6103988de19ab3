/* A device tree that a test builds by libfdt, and the machine that it gives. */
#include "tests/lib/host/arm64/device_tree.h"

#include <stdlib.h>

#include <libfdt.h>

#include "tests/lib/host/machine.h"

#include "kern/platform/bootinfo.h"

char tree[65536];
uint64_t tree_ram;

int
add_node(int parent, const char *name, const char *compatible)
{
	int at = fdt_add_subnode(tree, parent, name);

	assert_true(at >= 0);
	if (compatible != NULL)
		assert_int_equal(
		    fdt_setprop_string(tree, at, "compatible", compatible), 0);
	return at;
}

void
set_cell(int at, const char *name, uint32_t v)
{
	assert_int_equal(fdt_setprop_u32(tree, at, name, v), 0);
}

/* Add n ranges of 1 MiB. */
void
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

void
add_interrupt(int at, uint32_t type, uint32_t number)
{
	assert_int_equal(fdt_appendprop_u32(tree, at, "interrupts", type), 0);
	assert_int_equal(fdt_appendprop_u32(tree, at, "interrupts", number), 0);
	assert_int_equal(fdt_appendprop_u32(tree, at, "interrupts", 4), 0);
}

void
start_tree(void)
{
	assert_int_equal(fdt_create_empty_tree(tree, sizeof tree), 0);
	set_cell(0, "#address-cells", 2);
	set_cell(0, "#size-cells", 2);
}

/* libfdt puts a new subnode before the existing ones. */
void
add_timer(void)
{
	int at = add_node(0, "timer", "arm,armv8-timer");

	for (uint32_t i = 0; i < 4; i++)
		add_interrupt(at, 1, (const uint32_t[]){ 13, 14, 11, 10 }[i]);
}

int
add_gic(const char *name, uint64_t base, unsigned regions)
{
	int at = add_node(0, name, "arm,gic-v3");

	add_ranges(at, base, 1 + regions);
	set_cell(at, "#interrupt-cells", 3);
	set_cell(at, "#redistributor-regions", regions);
	return at;
}

bool
parse_tree(void)
{
	struct bootinfo bi = { 0 };

	assert_int_equal(fdt_pack(tree), 0);
	void *copy = exact_copy(tree, fdt_totalsize(tree));
	bi.bi_fdt = machine_pa(copy);
	if (tree_ram != 0)
		bootinfo_add(&bi, tree_ram, 1UL << 30, BOOTMEM_FREE);
	machine_reset();
	bool good = machine_from_fdt(&bi);
	if (good)
		machine_check(&bi, 0);
	free(copy);
	return good;
}
