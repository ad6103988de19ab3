/* A device tree whose nodes and properties mutations change: it stays valid. */
#include "tests/fuzz/fuzz.h"

#include <libfdt.h>

#include "arch/arm64/fdt/dt.h"
#include "arch/arm64/machine.h"
#include "boot/image.h"
#include "kern/platform/bootinfo.h"

#define ROOM 65536

size_t LLVMFuzzerCustomMutator(
    uint8_t *data, size_t n, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);

static unsigned state;

/* A number below n. */
static unsigned
draw_below(unsigned n)
{
	state = state * 1103515245 + 12345;
	return (state >> 8) % n;
}

/* Large values, small ones, and values that wrap when they are multiplied. */
static uint32_t
draw_cell(void)
{
	switch (draw_below(6)) {
	case 0:
		return draw_below(5);
	case 1:
		return draw_below(64);
	case 2:
		return ~0U - draw_below(3);
	case 3: /* k times this is a few modulo 2^32 */
		return (uint32_t)((1ULL << 32) / (2 + draw_below(7))) +
		       draw_below(3);
	case 4:
		return 1U << draw_below(32);
	default:
		return state;
	}
}

static int
draw_node(const void *fdt)
{
	int n = 0, at = 0;

	for (int node = 0; node >= 0; node = fdt_next_node(fdt, node, NULL))
		n++;
	for (n = (int)draw_below((unsigned)n); n > 0; n--)
		at = fdt_next_node(fdt, at, NULL);
	return at;
}

static int
draw_property(const void *fdt, int node)
{
	int n = 0, at;

	fdt_for_each_property_offset(at, fdt, node) n++;
	if (n == 0)
		return -1;
	n = (int)draw_below((unsigned)n);
	fdt_for_each_property_offset(at, fdt, node)
	{
		if (n-- == 0)
			return at;
	}
	return -1;
}

static void
copy_properties(void *fdt, int from, int to)
{
	char value[256];
	int at;

	/* A change moves what follows: the new node precedes the old. */
	for (int i = 0; i < 16; i++) {
		const char *name, *p;
		char copy[64];
		int len, n = 0;

		fdt_for_each_property_offset(at, fdt, from)
		{
			if (n++ == i)
				break;
		}
		if (at < 0 || n != i + 1 ||
		    (p = fdt_getprop_by_offset(fdt, at, &name, &len)) == NULL ||
		    len > (int)sizeof value || strlen(name) >= sizeof copy)
			return;
		memcpy(value, p, (size_t)len);
		strcpy(copy, name);
		n = (int)fdt_size_dt_struct(fdt);
		if (fdt_setprop(fdt, to, copy, value, len) != 0)
			return;
		from += (int)fdt_size_dt_struct(fdt) - n;
	}
}

static void
change_tree(void *fdt)
{
	static const char *const names[] = { "#interrupt-cells",
		"#address-cells", "#size-cells", "#redistributor-regions",
		"reg", "interrupts", "ranges", "compatible", "status",
		"stdout-path", "bootargs", "linux,initrd-start",
		"linux,initrd-end", "method" };
	int node = draw_node(fdt), at = draw_property(fdt, node), len, sub;
	const char *name = names[draw_below(sizeof names / sizeof names[0])],
		   *p;
	char value[512], copy[64];

	switch (draw_below(8)) {
	case 0: /* set a number that the parser reads, if it exists */
		for (unsigned i = 0;
		     i < 64 && fdt_getprop(fdt, node, name, NULL) == NULL; i++)
			node = draw_node(fdt);
		fdt_setprop_u32(fdt, node, name, draw_cell());
		return;
	case 1: /* change a cell of a property */
	case 2:
	case 3: /* or its length */
		if (at < 0 ||
		    (p = fdt_getprop_by_offset(fdt, at, &name, &len)) == NULL ||
		    len > 480 || strlen(name) >= sizeof copy)
			return;
		memset(value, 0, sizeof value);
		memcpy(value, p, (size_t)len);
		strcpy(copy, name);
		if (draw_below(3) == 0) {
			len = (int)draw_below(2) ? len + 4 : len / 2;
		} else if (len >= 4) {
			uint32_t v = cpu_to_fdt32(draw_cell());

			memcpy(
			    value + 4 * draw_below((unsigned)len / 4), &v, 4);
		} else if (len > 0) {
			value[draw_below((unsigned)len)] =
			    (char)draw_below(256);
		}
		fdt_setprop(fdt, node, copy, value, len);
		return;
	case 4:
		fdt_delprop(fdt, node, name);
		return;
	case 5:
		if (node != 0)
			fdt_del_node(fdt, node);
		return;
	case 6: /* copy a node */
		if (node == 0)
			return;
		snprintf(value, sizeof value, "n%u", draw_below(1000));
		len = (int)fdt_size_dt_struct(fdt);
		sub = fdt_add_subnode(fdt, fdt_parent_offset(fdt, node), value);
		if (sub >= 0)
			copy_properties(fdt,
			    node + (int)fdt_size_dt_struct(fdt) - len, sub);
		return;
	default: /* add many ranges or interrupts */
		for (unsigned n = draw_below(40); n > 0; n--)
			fdt_appendprop_u32(fdt, node, name, draw_cell());
	}
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static char fdt[ROOM];

	state = seed;
	if (n < FDT_V17_SIZE || fdt_check_full(data, n) != 0 ||
	    fdt_open_into(data, fdt, sizeof fdt) != 0)
		return n;
	for (unsigned i = 1 + draw_below(6); i > 0; i--)
		change_tree(fdt);
	if (fdt_pack(fdt) != 0 || fdt_totalsize(fdt) > max)
		return n;
	memcpy(data, fdt, fdt_totalsize(fdt));
	return fdt_totalsize(fdt);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n < FDT_V17_SIZE || fdt_check_full(data, n) != 0)
		return 0;
	struct bootinfo *bi = calloc(1, sizeof *bi);
	void *fdt = fuzz_copy(data, n);
	image_from_fdt(bi, fdt);
	bootinfo_sort(bi);
	memset(&machine, 0, sizeof machine);
	bi->bi_fdt = (uintptr_t)fdt;
	if (machine_from_fdt(bi))
		machine_check(bi, 0);
	CHECK(machine.m_ncpu <= MAXCPU && machine.m_ngicr <= MACHINE_NGICR);
	free(fdt);
	free(bi);
	return 0;
}
