/*
 * Walks a device tree and decodes its properties.
 * Devicetree Specification, "Standard Properties" (#address-cells,
 * #size-cells, reg, ranges, status), "Flattened Devicetree (DTB) Format"
 * (structure block, strings block).
 */
#include "arch/arm64/fdt/dt.h"

#include <libfdt.h>

#include "lib/string.h"

/*
 * Skip the token at `at` of the structure block, with the name or the property
 * that it has.  Returns the offset of the next token.  Returns -1 at the end,
 * or if the tree is too short.
 */
static int
next_token(const void *fdt, int at, uint32_t *token)
{
	const char *block = (const char *)fdt + fdt_off_dt_struct(fdt);
	uint32_t end = fdt_totalsize(fdt) - fdt_off_dt_struct(fdt);
	uint32_t next = (uint32_t)at + 4, bytes;

	if (at < 0 || next > end)
		return -1;
	*token = fdt32_ld((const fdt32_t *)(block + at));
	if (*token == FDT_BEGIN_NODE) {
		next += (uint32_t)strnlen(block + next, end - next) + 1;
	} else if (*token == FDT_PROP) {
		if (end - next < 8)
			return -1;
		bytes = fdt32_ld((const fdt32_t *)(block + next));
		next += 8;
		if (bytes > end - next)
			return -1;
		next += bytes;
	} else if (*token != FDT_END_NODE && *token != FDT_NOP) {
		return -1;
	}
	next = (next + 3) & ~3U;
	return next <= end ? (int)next : -1;
}

const void *
dt_getprop(const void *fdt, int node, const char *name, int *len)
{
	const char *block = (const char *)fdt + fdt_off_dt_struct(fdt);
	const char *strings = (const char *)fdt + fdt_off_dt_strings(fdt);
	uint32_t end = fdt_totalsize(fdt) - fdt_off_dt_strings(fdt), token;
	int at = next_token(fdt, node, &token), next;

	while ((next = next_token(fdt, at, &token)) >= 0 &&
	       (token == FDT_PROP || token == FDT_NOP)) {
		const struct fdt_property *p =
		    (const struct fdt_property *)(block + at);

		at = next;
		if (token == FDT_NOP || fdt32_ld(&p->nameoff) >= end ||
		    strncmp(strings + fdt32_ld(&p->nameoff), name,
			end - fdt32_ld(&p->nameoff)) != 0)
			continue;
		if (len != NULL)
			*len = (int)fdt32_ld(&p->len);
		return p->data;
	}
	if (len != NULL)
		*len = -FDT_ERR_NOTFOUND;
	return NULL;
}

const char *
dt_name(const void *fdt, int node)
{
	return (const char *)fdt + fdt_off_dt_struct(fdt) + node + 4;
}

int
dt_child(const void *fdt, int node, const char *name, size_t n)
{
	bool any = memchr(name, '@', n) == NULL;
	uint32_t token;
	int at = next_token(fdt, node, &token), next, depth = 0;

	while (depth >= 0 && (next = next_token(fdt, at, &token)) >= 0) {
		if (token == FDT_BEGIN_NODE && depth++ == 0) {
			const char *s = dt_name(fdt, at);

			if (strncmp(s, name, n) == 0 &&
			    (s[n] == '\0' || (any && s[n] == '@')))
				return at;
		} else if (token == FDT_END_NODE) {
			depth--;
		}
		at = next;
	}
	return -1;
}

void
dt_start(struct dt *dt, const void *fdt)
{
	dt->dt_fdt = fdt;
	dt->dt_at = 0;
	dt->dt_depth = -1;
	dt->dt_path[0] = -1;
}

int
dt_next(struct dt *dt)
{
	uint32_t token;
	int at;

	while ((at = dt->dt_at) >= 0) {
		dt->dt_at = next_token(dt->dt_fdt, at, &token);
		if (dt->dt_at < 0)
			break;
		if (token == FDT_END_NODE && --dt->dt_depth < 0)
			break;
		if (token == FDT_BEGIN_NODE && ++dt->dt_depth < DT_DEPTH) {
			dt->dt_path[dt->dt_depth] = at;
			return at;
		}
	}
	dt->dt_at = -1;
	return -1;
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
	const fdt32_t *p = dt_getprop(fdt, node, name, &len);

	return p != NULL && len >= 4 ? read_cells(&p, len / 4) : absent;
}

bool
dt_enabled(const void *fdt, int node)
{
	int len;
	const char *s = dt_getprop(fdt, node, "status", &len);

	return s == NULL || (len >= 2 && s[0] == 'o' && s[1] == 'k');
}

/* Cells of an address or a size of this node's children, or -1. */
static int
cells(const void *fdt, int node, const char *name, unsigned absent)
{
	uint64_t n = dt_number(fdt, node, name, absent);

	return n <= FDT_MAX_NCELLS ? (int)n : -1;
}

static int
address_cells(const void *fdt, int node)
{
	return cells(fdt, node, "#address-cells", 2);
}

static int
size_cells(const void *fdt, int node)
{
	return cells(fdt, node, "#size-cells", 1);
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
	int child = address_cells(fdt, node);
	int parent = address_cells(fdt, dt->dt_path[bus - 1]);
	int size = size_cells(fdt, node);
	int len;
	const fdt32_t *p = dt_getprop(fdt, node, "ranges", &len);

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
	    dt_getprop(fdt, dt->dt_path[dt->dt_depth], "reg", &len);

	if (p == NULL || up < 0)
		return false;
	ac = address_cells(fdt, dt->dt_path[up]);
	sc = size_cells(fdt, dt->dt_path[up]);
	if (ac < 0 || sc < 0 || ac + sc == 0 ||
	    n >= (unsigned)len / 4 / (unsigned)(ac + sc))
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
