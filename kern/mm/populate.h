/*
 * The pages of an address space, below its regions.  Included by kern/mm/as.c.
 *
 * A populated page is mapped in the tables of as or, where every access was
 * taken from it, in those of as->as_hidden.  Ranges are whole pages of one
 * region; contig: of a MAP_CONTIG one, in steps of 2 MiB.
 */
#ifndef KERN_MM_POPULATE_H
#define KERN_MM_POPULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as;

/*
 * Give a range that has no pages zeroed ones.  0 or ENOMEM, nothing left
 * behind.
 */
int pages_populate(
    struct as *as, uintptr_t va, size_t len, unsigned prot, bool contig);
/* The physical page at va, in either's tables; ~0: none. */
uint64_t pages_where(const struct as *as, uintptr_t va);
/* Map len bytes from pa on, for reading.  0 or ENOMEM, nothing changed. */
int pages_map(struct as *as, uintptr_t va, uint64_t pa, size_t len);
/* Unmap pages that are not the address space's own. */
void pages_unmap(struct as *as, uintptr_t va, size_t len);
/* Zero pages that may be accessed. */
void pages_zero(struct as *as, uintptr_t va, size_t len);
/* Free the pages there are. */
void pages_free(struct as *as, uintptr_t va, size_t len, bool contig);
/*
 * Change what may be done to pages, all of them there, that could be accessed
 * before (was != 0) or not.  0 or ENOMEM, nothing changed.
 */
int pages_protect(struct as *as, uintptr_t va, size_t len, unsigned was,
    unsigned prot, bool contig);
/*
 * Map the pages of [from, from + len) at `to` and no longer at from.  0 or
 * ENOMEM, nothing changed.
 */
int pages_move(
    struct as *as, uintptr_t from, uintptr_t to, size_t len, unsigned prot);

#endif /* KERN_MM_POPULATE_H */
