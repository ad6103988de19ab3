/*
 * The regions of an address space: sorted, disjoint, in a balanced tree, so
 * that one among thousands is found in a few steps.  Included by kern/as*.c
 * and tests/host.
 */
#ifndef KERN_MM_REGION_H
#define KERN_MM_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of one protection.  Both ends are page multiples. */
struct region {
	uintptr_t r_start, r_end;
	unsigned r_prot; /* PROT_READ | PROT_WRITE | PROT_EXEC */
	bool r_contig;   /* MAP_CONTIG: 2 MiB pages throughout */
	bool r_pages;    /* has all its pages; false: has none, and no access */
	bool r_shared; /* its pages are an archive's: never written, never freed
	                */
	unsigned r_was_prot; /* what as_protect() takes back if it fails */
	bool r_had_pages;

	/* region.c */
	uint8_t r_height;               /* of the tree below, itself included */
	struct region *r_prev, *r_next; /* its neighbours, by address */
	struct region *r_left, *r_right;
	size_t r_gap; /* the largest before a region of the tree below */
};

struct region_tree {
	struct region *rt_root;
	struct region *rt_first, *rt_last; /* by address */
};

/* The first region that ends behind va, or NULL. */
struct region *region_behind(const struct region_tree *rt, uintptr_t va);
/*
 * The last region before `before` (NULL: of all) with so many free bytes
 * directly in front of it, or NULL.  What lies behind the last of all is not
 * looked at; in front of the first everything is free.
 */
struct region *region_with_gap(
    const struct region_tree *rt, const struct region *before, size_t bytes);
/*
 * It overlaps none that is there.  To divide one, let it end where the
 * inserted one begins, which ends where it did.
 */
void region_insert(struct region_tree *rt, struct region *r);
void region_remove(struct region_tree *rt, struct region *r);
/*
 * r ends where its next neighbour did, which is removed: the caller's to free.
 */
struct region *region_absorb(struct region_tree *rt, struct region *r);

#endif /* KERN_MM_REGION_H */
