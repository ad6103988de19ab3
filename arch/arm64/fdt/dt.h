/*
 * A walk over a device tree that keeps the path to its node.  Included by
 * arch/arm64/ and boot/.
 *
 * Call this before the first LWP exists: libfdt's prebuilt objects use SIMD
 * registers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DT_DEPTH 8

struct dt {
	const void *dt_fdt;
	int dt_at; /* the next token, from the start of the structure block */
	int dt_depth;
	int dt_path[DT_DEPTH]; /* nodes from the root to this one */
};

/* Start before the root: the first dt_next() returns the root. */
void dt_start(struct dt *dt, const void *fdt);
/* Go to the next node in tree order.  Returns its offset, or -1 at the end. */
int dt_next(struct dt *dt);
/*
 * Get the nth address and length of this node's "reg", as the CPU sees them.
 * Returns false if the entry is absent or a bus on the path does not
 * translate it.
 */
bool dt_reg(const struct dt *dt, unsigned n, uint64_t *base, uint64_t *bytes);
/*
 * Get a property's value and, if len is not NULL, its length.  Returns NULL if
 * it is absent.  It does what fdt_getprop() does.  libfdt checks a node's name
 * byte by byte at each step, which was most of the time of a boot.
 */
const void *dt_getprop(const void *fdt, int node, const char *name, int *len);
/*
 * The child with this name of n bytes, or -1.  A name without a unit address
 * is that of the first child with any.
 */
int dt_child(const void *fdt, int node, const char *name, size_t n);
/* The name of a node, with its unit address. */
const char *dt_name(const void *fdt, int node);
/* The value of a property of one or two cells, or `absent` without it. */
uint64_t dt_number(
    const void *fdt, int node, const char *name, uint64_t absent);
/* Is the property "status" absent or "okay"? */
bool dt_enabled(const void *fdt, int node);
