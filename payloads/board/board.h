/* Parts of the program `board`.  Included by them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Overwrite what names this one machine or its owner in a piece of
 * /dev/firmware: serial numbers, UUIDs, licence keys.  The lengths stay.
 */
void board_hide(const char *name, unsigned char *bytes, size_t n);
/*
 * ARCH/board_fdt.c: the same for a device tree at a multiple of 8.  A tree that
 * is damaged stays: the kernel has found nothing in it.
 */
void board_hide_fdt(unsigned char *fdt, size_t n);

/* The results of CPUID for a leaf and a subleaf. */
struct board_leaf {
	uint32_t bx_leaf, bx_subleaf, bx_a, bx_b, bx_c, bx_d;
};
/* Read at most `max` leaves of this CPU.  Returns how many; 0 on arm64. */
size_t board_cpu_leaves(struct board_leaf *to, size_t max);
