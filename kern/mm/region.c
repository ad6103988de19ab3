/*
 * The regions of an address space, in an AVL tree.  The heights of a region's
 * two subtrees differ by at most one.  So the depth of a tree of n regions is
 * at most 1.44 log2(n).
 *
 * Each region stores the largest gap in its subtree.  A change updates it on
 * the way up to the root.  The change of a gap affects a neighbour too: when
 * the region is a leaf, both its neighbours are among its ancestors.
 *
 * Adelson-Velsky, Landis, "An algorithm for the organization of information"
 * (Doklady Akademii Nauk SSSR 146, 1962).
 */
#include "kern/mm/region.h"

static unsigned
height_of(const struct region *r)
{
	return r != NULL ? r->r_height : 0;
}

/* Free bytes directly before r. */
static size_t
gap_before(const struct region *r)
{
	return r->r_start - (r->r_prev != NULL ? r->r_prev->r_end : 0);
}

/* Compute r_gap and r_height from the children, which are up to date. */
static void
update_node(struct region *r)
{
	const struct region *a = r->r_left, *b = r->r_right;
	size_t gap = gap_before(r);

	if (a != NULL && a->r_gap > gap)
		gap = a->r_gap;
	if (b != NULL && b->r_gap > gap)
		gap = b->r_gap;
	r->r_gap = gap;
	r->r_height =
	    (uint8_t)(1 + (height_of(a) > height_of(b) ? height_of(a)
						       : height_of(b)));
}

/* Rotations: the left, or the right, child takes the place of its parent. */

static void
raise_left(struct region **link)
{
	struct region *r = *link, *up = r->r_left;

	r->r_left = up->r_right;
	up->r_right = r;
	*link = up;
	update_node(r);
	update_node(up);
}

static void
raise_right(struct region **link)
{
	struct region *r = *link, *up = r->r_right;

	r->r_right = up->r_left;
	up->r_left = r;
	*link = up;
	update_node(r);
	update_node(up);
}

/* Balance after the height of one subtree of *link changed by one. */
static void
balance_node(struct region **link)
{
	struct region *r = *link;

	if (height_of(r->r_left) > height_of(r->r_right) + 1) {
		if (height_of(r->r_left->r_left) <
		    height_of(r->r_left->r_right))
			raise_right(&r->r_left);
		raise_left(link);
	} else if (height_of(r->r_right) > height_of(r->r_left) + 1) {
		if (height_of(r->r_right->r_right) <
		    height_of(r->r_right->r_left))
			raise_left(&r->r_right);
		raise_right(link);
	} else {
		update_node(r);
	}
}

/* The link to the subtree of *link that contains r, or would contain it. */
static struct region **
side_of(struct region **link, const struct region *r)
{
	return r->r_start < (*link)->r_start ? &(*link)->r_left
	                                     : &(*link)->r_right;
}

static void
insert_below(struct region **link, struct region *r)
{
	if (*link == NULL)
		*link = r;
	else
		insert_below(side_of(link, r), r);
	balance_node(link);
}

static struct region *
take_first(struct region **link)
{
	struct region *r = *link;

	if (r->r_left == NULL) {
		*link = r->r_right;
		return r;
	}
	r = take_first(&r->r_left);
	balance_node(link);
	return r;
}

static void
take_out(struct region **link, struct region *r)
{
	if (*link != r) {
		take_out(side_of(link, r), r);
	} else if (r->r_right == NULL) {
		*link = r->r_left;
		return;
	} else {
		struct region *next = take_first(&r->r_right);

		next->r_left = r->r_left;
		next->r_right = r->r_right;
		*link = next;
	}
	balance_node(link);
}

struct region *
region_ending_after(const struct region_tree *rt, uintptr_t va)
{
	struct region *found = NULL, *r = rt->rt_root;

	while (r != NULL) {
		if (r->r_end > va) {
			found = r;
			r = r->r_left;
		} else {
			r = r->r_right;
		}
	}
	return found;
}

static struct region *
last_gap(struct region *r, const struct region *before, size_t bytes)
{
	struct region *found;

	if (r == NULL || r->r_gap < bytes)
		return NULL;
	if (before == NULL || r->r_start < before->r_start) {
		found = last_gap(r->r_right, before, bytes);
		if (found != NULL)
			return found;
		if (gap_before(r) >= bytes)
			return r;
	}
	return last_gap(r->r_left, before, bytes);
}

struct region *
region_with_gap(
    const struct region_tree *rt, const struct region *before, size_t bytes)
{
	return last_gap(rt->rt_root, before, bytes);
}

void
region_insert(struct region_tree *rt, struct region *r)
{
	struct region *next = region_ending_after(rt, r->r_start);

	r->r_left = r->r_right = NULL;
	r->r_next = next;
	r->r_prev = next != NULL ? next->r_prev : rt->rt_last;
	*(next != NULL ? &next->r_prev : &rt->rt_last) = r;
	*(r->r_prev != NULL ? &r->r_prev->r_next : &rt->rt_first) = r;
	insert_below(&rt->rt_root, r);
}

void
region_remove(struct region_tree *rt, struct region *r)
{
	struct region *prev = r->r_prev, *next = r->r_next;

	*(next != NULL ? &next->r_prev : &rt->rt_last) = prev;
	*(prev != NULL ? &prev->r_next : &rt->rt_first) = next;
	take_out(&rt->rt_root, r);
}

struct region *
region_absorb(struct region_tree *rt, struct region *r)
{
	struct region *gone = r->r_next;

	r->r_end = gone->r_end;
	region_remove(rt, gone);
	return gone;
}
