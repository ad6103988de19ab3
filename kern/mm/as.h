/*
 * Address spaces.  Included by kern/ and arch/.
 *
 * Memory is populated when it is mapped, never by a page fault, so that no
 * fault disturbs a count later.  A region that never allowed any access
 * (PROT_NONE) has no pages.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/mm/region.h"

struct as {
	unsigned as_refs; /* processes: more than one in vfork(2) */
	uint64_t as_root; /* arch: physical address of the root table */
	uint64_t as_asid; /* arch: address space id, or 0 */
	bool as_system;   /* pages are mapped without PROT_USER */
	struct region_tree as_regions;
	/*
	 * Holds the pages that PROT_NONE made inaccessible, with their
	 * content.  No CPU ever runs in this address space.
	 */
	struct as *as_hidden;
	uintptr_t as_brk_base, as_brk; /* start and end of the heap, brk(2) */
	size_t as_npages;              /* populated pages */
	bool as_lock;                  /* new regions are locked, mlockall(2) */
};

/*
 * An empty address space with one reference, or NULL.  Code of a system address
 * space has EL1 or ring 0.
 */
struct as *as_new(bool system);
/* Set before the last programs of the run; only `pages` may run after them. */
extern bool as_last;
struct as *as_hold(struct as *as);
/*
 * Drop a reference, and with the last one free everything.  Then the address
 * space must not be current on any CPU.
 */
void as_release(struct as *as);

/* The region that holds va, or NULL. */
struct region *as_find(struct as *as, uintptr_t va);
/* Is nothing mapped in the range? */
bool as_is_free(const struct as *as, uintptr_t va, size_t len);
/*
 * The highest free range of len bytes, with a free page on both sides.  Returns
 * its address, or 0 if no gap is large enough.
 */
uintptr_t as_gap(struct as *as, size_t len, size_t align);
/*
 * Map zeroed memory at the free range [va, va + len).  contig: MAP_CONTIG.
 * Returns 0, EINVAL for bad bounds, EEXIST if the range is not free, or ENOMEM.
 */
int as_map(struct as *as, uintptr_t va, size_t len, unsigned prot, bool contig);
/*
 * Map pages that no address space owns at a free range.  They are m's, or an
 * archive's if m is NULL.  The copy that fork(2) makes shares them.  read_only:
 * as_protect() does not make them writable.  Returns as as_map().
 */
int as_map_shared(struct as *as, uintptr_t va, uint64_t pa, size_t len,
    unsigned prot, struct shared_memory *m, bool read_only);
/*
 * Note that memory of as_map() is a copy of an archive's file from an offset
 * on.  The caller copies the content.  Returns 0 or ENOMEM.
 */
int as_note_file(struct as *as, uintptr_t va, size_t len, const char *file,
    size_t bytes, size_t offset, bool read_only);
/*
 * Unmap a range, parts of which may be unmapped already.  Returns 0, EINVAL if
 * that would split a 2 MiB page, or ENOMEM.
 */
int as_unmap(struct as *as, uintptr_t va, size_t len);
/*
 * Change the access rights of a range.  Returns 0, or ENOMEM or EACCES:
 * - ENOMEM if part of the range is not mapped.  The part before it is changed.
 * - ENOMEM if memory runs out.  Nothing is changed.
 * - EACCES if read-only memory would become writable.
 */
int as_protect(struct as *as, uintptr_t va, size_t len, unsigned prot);
/*
 * Move pages and their content to a free range of the same length.  Returns 0,
 * EFAULT, EINVAL or ENOMEM.
 */
int as_move(struct as *as, uintptr_t from, uintptr_t to, size_t len);
/*
 * Zero the mapped parts of a range, or copy a noted file's content there again.
 * Pages without access are freed, and made again by as_protect().  Returns
 * 0 or an errno: ENOMEM if memory runs out or part of the range is not mapped,
 * EINVAL at a MAP_CONTIG region, and at a locked one if !locked.  Then the
 * range before it is zero.
 */
int as_zero(struct as *as, uintptr_t va, size_t len, bool locked);
/*
 * Mark a range.  Returns 0 or ENOMEM as as_zero().  A file's or shared memory
 * is not zeroed or freed, locked memory is not freed (EINVAL) or invalidated
 * (EBUSY).
 */
int as_mark(struct as *as, uintptr_t va, size_t len, enum mark mark);
/*
 * Write into populated memory through the direct map, whatever its protection.
 * Only for pages that no program has yet, or whose content the kernel makes
 * new; scripts/dev/check-layers lists the callers.  For a program's own request
 * use copyout().
 */
void as_write(struct as *as, uintptr_t va, const void *src, size_t len);
/*
 * Copy all mappings of `from` with their content into the empty `to`.  The hole
 * is reserved without pages; hole_len 0: no hole.  Returns 0 or ENOMEM; then
 * part may be mapped.
 */
int as_copy(
    struct as *to, const struct as *from, uintptr_t hole, size_t hole_len);
/*
 * A word that the program may write, in the direct map: for atomic changes.
 * NULL if va is misaligned or the program may not write there.
 */
uint32_t *as_word(struct as *as, uintptr_t va);
/* Make fresh code visible to instruction fetch. */
void as_sync_code(struct as *as, uintptr_t va, size_t len);
