/*
 * The pages of an address space.  Included by kern/mm/.
 *
 * Each range here is whole pages inside one region.  contig: the region is
 * MAP_CONTIG, and the range is a multiple of 2 MiB.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as;

/* Give zeroed pages to a range without pages.  0, or ENOMEM and no change. */
int pages_populate(
    struct as *as, uintptr_t va, size_t len, unsigned prot, bool contig);
/* The physical address of the page at va, accessible or not; ~0: no page. */
uint64_t pages_where(const struct as *as, uintptr_t va);
/*
 * Map memory at pa.  Returns 0, or ENOMEM with nothing changed.  The second has
 * no large pages, so that each page can be unmapped alone.
 */
int pages_map_shared(
    struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot);
int pages_map(
    struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot);
/* Unmap pages that the address space does not own. */
void pages_unmap(struct as *as, uintptr_t va, size_t len);
/* Zero accessible pages. */
void pages_zero(struct as *as, uintptr_t va, size_t len);
/*
 * Overwrite the accessible pages in a range, code that is to be freed.  QEMU
 * needs this (populate.c).  The range may have holes.
 */
void pages_forget_code(struct as *as, uintptr_t va, size_t len);
/* Unmap and free the pages in a range, which may have holes. */
void pages_free(struct as *as, uintptr_t va, size_t len, bool contig);
/*
 * Change the protection of populated pages from `was` to prot.  0: no access.
 * Returns 0, or ENOMEM with nothing changed.
 */
int pages_protect(struct as *as, uintptr_t va, size_t len, unsigned was,
    unsigned prot, bool contig);
/* Move the pages of [from, from + len) to `to`.  0, or ENOMEM and no change. */
int pages_move(
    struct as *as, uintptr_t from, uintptr_t to, size_t len, unsigned prot);
