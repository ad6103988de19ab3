/*
 * A walk over a device tree that knows where it is.  Included by arch/arm64/
 * and boot/image.c.  libfdt's prebuilt objects use SIMD registers, so all of
 * this is for the time before there is an LWP.
 */
#ifndef ARCH_ARM64_DT_H
#define ARCH_ARM64_DT_H

#include <stdbool.h>
#include <stdint.h>

#define DT_DEPTH 8

struct dt {
	const void *dt_fdt;
	int dt_depth;
	int dt_path[DT_DEPTH]; /* nodes from the root to this one */
};

/* Before the root; dt_next() goes there first. */
void dt_start(struct dt *dt, const void *fdt);
/* The next node in the tree's order; its offset, negative at the end. */
int dt_next(struct dt *dt);
/*
 * The nth address and length of this node's "reg", as the CPU sees them;
 * false where there is none or a bus on the way does not translate it.
 */
bool dt_reg(const struct dt *dt, unsigned n, uint64_t *base, uint64_t *bytes);
/* A property of one or two cells; `absent` where there is none. */
uint64_t dt_number(
    const void *fdt, int node, const char *name, uint64_t absent);
bool dt_enabled(const void *fdt, int node);

#endif /* ARCH_ARM64_DT_H */
