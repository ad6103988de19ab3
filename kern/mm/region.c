#include "kern/mm/region.h"

/*
 * An AVL tree: the heights of a region's two subtrees differ by one at most,
 * so that of n regions none lies deeper than 1.44 times the logarithm of n.
 * Adelson-Velsky, Landis, "An algorithm for the organization of information"
 * (Doklady Akademii Nauk SSSR 146, 1962).
 *
 * Each region knows the largest gap before any of those below it, which is
 * set right on the way up from every change.  A region's neighbours are above
 * it while it is a leaf, and so on the way.
 */

static unsigned
height(const struct region *r)
{
	return r != NULL ? r->r_height : 0;
}

/* Free bytes before r alone. */
static size_t
gap_before(const struct region *r)
{
	return r->r_start - (r->r_prev != NULL ? r->r_prev->r_end : 0);
}

/* What r knows of those below, which are right. */
static void
update(struct region *r)
{
	const struct region *a = r->r_left, *b = r->r_right;
	size_t gap = gap_before(r);

	if (a != NULL && a->r_gap > gap)
		gap = a->r_gap;
	if (b != NULL && b->r_gap > gap)
		gap = b->r_gap;
	r->r_gap = gap;
	r->r_height =
	    (uint8_t)(1 + (height(a) > height(b) ? height(a) : height(b)));
}

/* The left one of the two comes up, or the right one. */

static void
raise_left(struct region **link)
{
	struct region *r = *link, *up = r->r_left;

	r->r_left = up->r_right;
	up->r_right = r;
	*link = up;
	update(r);
	update(up);
}

static void
raise_right(struct region **link)
{
	struct region *r = *link, *up = r->r_right;

	r->r_right = up->r_left;
	up->r_left = r;
	*link = up;
	update(r);
	update(up);
}

/* One of the subtrees of *link has changed its height, by one at most. */
static void
balance(struct region **link)
{
	struct region *r = *link;

	if (height(r->r_left) > height(r->r_right) + 1) {
		if (height(r->r_left->r_left) < height(r->r_left->r_right))
			raise_right(&r->r_left);
		raise_left(link);
	} else if (height(r->r_right) > height(r->r_left) + 1) {
		if (height(r->r_right->r_right) < height(r->r_right->r_left))
			raise_left(&r->r_right);
		raise_right(link);
	} else {
		update(r);
	}
}

/* The subtree of *link in which r is, or would be. */
static struct region **
side(struct region **link, const struct region *r)
{
	return r->r_start < (*link)->r_start ? &(*link)->r_left
	                                     : &(*link)->r_right;
}

static void
insert(struct region **link, struct region *r)
{
	if (*link == NULL)
		*link = r;
	else
		insert(side(link, r), r);
	balance(link);
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
	balance(link);
	return r;
}

static void
take(struct region **link, struct region *r)
{
	if (*link != r) {
		take(side(link, r), r);
	} else if (r->r_right == NULL) {
		*link = r->r_left;
		return;
	} else {
		struct region *next = take_first(&r->r_right);

		next->r_left = r->r_left;
		next->r_right = r->r_right;
		*link = next;
	}
	balance(link);
}

struct region *
region_behind(const struct region_tree *rt, uintptr_t va)
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
	struct region *next = region_behind(rt, r->r_start);

	r->r_left = r->r_right = NULL;
	r->r_next = next;
	r->r_prev = next != NULL ? next->r_prev : rt->rt_last;
	*(next != NULL ? &next->r_prev : &rt->rt_last) = r;
	*(r->r_prev != NULL ? &r->r_prev->r_next : &rt->rt_first) = r;
	insert(&rt->rt_root, r);
}

void
region_remove(struct region_tree *rt, struct region *r)
{
	struct region *prev = r->r_prev, *next = r->r_next;

	*(next != NULL ? &next->r_prev : &rt->rt_last) = prev;
	*(prev != NULL ? &prev->r_next : &rt->rt_first) = next;
	take(&rt->rt_root, r);
}

struct region *
region_absorb(struct region_tree *rt, struct region *r)
{
	struct region *gone = r->r_next;

	r->r_end = gone->r_end;
	region_remove(rt, gone);
	return gone;
}
