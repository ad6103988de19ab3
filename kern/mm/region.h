/*
 * The regions of an address space: sorted, disjoint, in a balanced tree, so
 * that thousands cost little.  Included by kern/mm/as*.c and tests/host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared_memory; /* kern/mm/shared_memory.h */

/*
 * Marks of a program.  The first three only ask: is there memory, may it be
 * freed, is it not locked?  The next three say if fork(2) copies it, puts zeros
 * in its place, or leaves it out.
 */
enum mark { ANY, FREE, SYNC, FORK_COPY, FORK_ZERO, FORK_NONE, LOCK, UNLOCK };

/* A range of one protection.  Both ends are page multiples. */
struct region {
	uintptr_t r_start, r_end;
	unsigned r_prot; /* PROT_READ | PROT_WRITE | PROT_EXEC */
	bool r_contig;   /* MAP_CONTIG: 2 MiB pages throughout */
	bool r_pages;    /* true: has all its pages; false: none, no access */
	/* The pages are not the address space's: unmapping frees none. */
	bool r_shared;
	/* Whose they are, if r_shared.  NULL: an archive's. */
	struct shared_memory *r_memory;
	bool r_read_only; /* of a file that may not be written */
	/* An archive's file, copied from r_offset on; "": of /tmp; or NULL. */
	const char *r_file;
	size_t r_file_bytes, r_offset;
	enum mark r_fork;
	bool r_locked;       /* mlock(2) */
	unsigned r_was_prot; /* with r_had_pages: lets as_protect() undo */
	bool r_had_pages;

	/* Used by region.c. */
	uint8_t r_height;               /* of the subtree at this region */
	struct region *r_prev, *r_next; /* neighbours by address */
	struct region *r_left, *r_right;
	size_t r_gap; /* largest gap before a region of the subtree */
};

struct region_tree {
	struct region *rt_root;
	struct region *rt_first, *rt_last; /* by address */
};

/* Returns the first region that ends after va, or NULL. */
struct region *region_ending_after(const struct region_tree *rt, uintptr_t va);
/*
 * Returns the last region below `before` (NULL: the last of all) with a gap of
 * at least this many bytes directly before it, or NULL.  The gap before the
 * first region starts at address 0.  The gap after the last is not considered.
 */
struct region *region_with_gap(
    const struct region_tree *rt, const struct region *before, size_t bytes);
/*
 * Insert a region that overlaps no other.  To split a region, first set its end
 * to the start of the new one.
 */
void region_insert(struct region_tree *rt, struct region *r);
void region_remove(struct region_tree *rt, struct region *r);
/*
 * Extend r to the end of its next neighbour, and remove that neighbour.  The
 * caller frees the neighbour, which is returned.
 */
struct region *region_absorb(struct region_tree *rt, struct region *r);
