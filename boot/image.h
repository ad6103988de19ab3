/*
 * Reads the device tree that a Linux Image's loader passes.  Included by
 * boot/image*.c and tests/fuzz/dt.c.
 */
#pragma once

struct bootinfo;

/* Fill *bi from a device tree. */
void image_from_fdt(struct bootinfo *bi, const void *fdt);

/*
 * If the tree's /chosen names UEFI's tables, add them and UEFI's memory map:
 * the tree then has no memory.  Linux that UEFI started passes such a tree.
 * Returns NULL, or what is wrong.
 */
const char *image_from_uefi(struct bootinfo *bi, const void *fdt);
