/*
 * An address space.  Included by kern/ and arch/.
 *
 * Memory is populated when it is mapped, never by a fault, so that nothing
 * disturbs a count later.  A region without access (PROT_NONE) that never
 * had any takes no pages.
 */
#ifndef KERN_MM_AS_H
#define KERN_MM_AS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/mm/region.h"

struct as {
	uint64_t as_root; /* arch: physical address of the root table */
	uint64_t as_asid; /* arch: address space id, 0 where unused */
	bool as_system;   /* pages are mapped without PROT_USER */
	struct region_tree as_regions;
	/*
	 * Pages that were taken every access wait, with their content, in the
	 * tables of a second address space that is never switched to.
	 */
	struct as *as_hidden;
	uintptr_t as_brk_base, as_brk; /* the heap, as brk(2) left it */
	size_t as_npages;              /* populated */
};

/* 0 or ENOMEM.  A system address space's code runs at ring 0 / EL1. */
int as_init(struct as *as, bool system);
/* Free everything; not the current address space of any CPU. */
void as_free(struct as *as);

/* The region that holds va, or NULL. */
struct region *as_find(struct as *as, uintptr_t va);
/*
 * A free range of len bytes, as high as can be below the limit; 0: none.
 */
uintptr_t as_gap(struct as *as, size_t len, size_t align);
/*
 * Map zeroed memory at [va, va + len), which must be free: EEXIST, EINVAL
 * for bounds, ENOMEM.  contig: see MAP_CONTIG.
 */
int as_map(struct as *as, uintptr_t va, size_t len, unsigned prot, bool contig);
/*
 * Map memory that belongs to nobody, as an archive does, at a free range: read
 * only, for ever.  fork(2) maps it, too; unmapping does not free it.
 */
int as_map_shared(struct as *as, uintptr_t va, uint64_t pa, size_t len);
/* Whatever is mapped there no longer is.  EINVAL (2 MiB pages), ENOMEM. */
int as_unmap(struct as *as, uintptr_t va, size_t len);
/*
 * ENOMEM where part of the range is not mapped, which leaves what lies before
 * that protected; or where memory is out, which changes nothing.  EACCES, too:
 * what as_map_shared() mapped cannot become writable.
 */
int as_protect(struct as *as, uintptr_t va, size_t len, unsigned prot);
/* Move pages, content and all, to a free range of the same length. */
int as_move(struct as *as, uintptr_t from, uintptr_t to, size_t len);
/*
 * Zeros, in part of one region; pages without access are given back.  ENOMEM
 * (also where it is not mapped), EINVAL for MAP_CONTIG.
 */
int as_zero(struct as *as, uintptr_t va, size_t len);
/*
 * Write into populated memory through the direct map, whatever its protection:
 * only for who fills pages that no program has yet (scripts/check-layers).
 * What a program asks to have written goes by copyout().
 */
void as_write(struct as *as, uintptr_t va, const void *src, size_t len);
/*
 * Fill an empty address space with a copy of all that is mapped in another,
 * but for the hole, which is reserved only (hole_len 0: none).  ENOMEM: part
 * may be mapped.
 */
int as_copy(
    struct as *to, const struct as *from, uintptr_t hole, size_t hole_len);
/* Make fresh code visible to instruction fetch. */
void as_sync_code(struct as *as, uintptr_t va, size_t len);

#endif /* KERN_MM_AS_H */
