/*
 * Walks a device tree and decodes its properties.
 * Devicetree Specification, "Standard Properties" (#address-cells,
 * #size-cells, reg, ranges, status).
 */
#include "arch/arm64/dt.h"

#include <libfdt.h>

#include "lib/printf.h"

void
dt_start(struct dt *dt, const void *fdt)
{
	dt->dt_fdt = fdt;
	dt->dt_depth = -1;
	dt->dt_path[0] = -1;
}

int
dt_next(struct dt *dt)
{
	int node = dt->dt_depth < 0 ? -1 : dt->dt_path[dt->dt_depth];
	int depth = dt->dt_depth;

	do {
		node = fdt_next_node(dt->dt_fdt, node, &depth);
	} while (node >= 0 && depth >= DT_DEPTH);
	if (node < 0 || depth < 0)
		return -1;
	dt->dt_depth = depth;
	dt->dt_path[depth] = node;
	return node;
}

static uint64_t
read_cells(const fdt32_t **p, int n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 32 | fdt32_to_cpu(*(*p)++);
	return v;
}

uint64_t
dt_number(const void *fdt, int node, const char *name, uint64_t absent)
{
	int len;
	const fdt32_t *p = fdt_getprop(fdt, node, name, &len);

	return p != NULL && len >= 4 ? read_cells(&p, len / 4) : absent;
}

bool
dt_enabled(const void *fdt, int node)
{
	int len;
	const char *s = fdt_getprop(fdt, node, "status", &len);

	return s == NULL || (len >= 2 && s[0] == 'o' && s[1] == 'k');
}

/*
 * Translate *base from the address space of a bus's children to that of its
 * parent, by "ranges".  `bus` is the depth of the bus.
 */
static bool
translate_address(const struct dt *dt, int bus, uint64_t *base)
{
	const void *fdt = dt->dt_fdt;
	int node = dt->dt_path[bus];
	int child = fdt_address_cells(fdt, node);
	int parent = fdt_address_cells(fdt, dt->dt_path[bus - 1]);
	int size = fdt_size_cells(fdt, node);
	int len;
	const fdt32_t *p = fdt_getprop(fdt, node, "ranges", &len);

	if (p == NULL || child < 0 || parent < 0 || size < 0)
		return false;
	if (len == 0)
		return true; /* the addresses are the same */
	for (; len >= 4 * (child + parent + size);
	     len -= 4 * (child + parent + size)) {
		uint64_t from = read_cells(&p, child);
		uint64_t to = read_cells(&p, parent);
		uint64_t bytes = read_cells(&p, size);

		if (*base - from < bytes) {
			*base += to - from;
			return true;
		}
	}
	return false;
}

bool
dt_reg(const struct dt *dt, unsigned n, uint64_t *base, uint64_t *bytes)
{
	const void *fdt = dt->dt_fdt;
	int up = dt->dt_depth - 1, ac, sc, len;
	const fdt32_t *p =
	    fdt_getprop(fdt, dt->dt_path[dt->dt_depth], "reg", &len);

	if (p == NULL || up < 0)
		return false;
	ac = fdt_address_cells(fdt, dt->dt_path[up]);
	sc = fdt_size_cells(fdt, dt->dt_path[up]);
	if (ac < 0 || sc < 0 || n >= (unsigned)len / 4 / (unsigned)(ac + sc))
		return false;
	p += n * (unsigned)(ac + sc);
	*base = read_cells(&p, ac);
	*bytes = read_cells(&p, sc);
	for (; up > 0; up--) {
		if (!translate_address(dt, up, base))
			return false;
	}
	return true;
}
