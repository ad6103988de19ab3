#include "kern/as.h"

#include "kern/arch.h"
#include "kern/as_pages.h"
#include "kern/errno.h"
#include "kern/page.h"
#include "lib/printf.h"

/* [va, va + len) are whole pages of the user half. */
static bool
range_ok(uintptr_t va, size_t len)
{
	return (va | len) % PAGE_SIZE == 0 && len > 0 && va >= USER_BASE &&
	       va <= USER_TOP && len <= USER_TOP - va;
}

int
as_init(struct as *as, bool system)
{
	*as = (struct as){ .as_system = system };
	return arch_as_init(as);
}

void
as_free(struct as *as)
{
	while (as->as_regions != NULL) {
		struct region *r = as->as_regions;
		int err = as_unmap(as, r->r_start, r->r_end - r->r_start);

		ASSERT(err == 0); /* whole regions never split */
	}
	ASSERT(as->as_npages == 0);
	if (as->as_hidden != NULL) {
		arch_as_free(as->as_hidden);
		kfree(as->as_hidden);
	}
	arch_as_free(as);
}

struct region *
as_find(struct as *as, uintptr_t va)
{
	struct region *r = as->as_regions;

	while (r != NULL && r->r_end <= va)
		r = r->r_next;
	return r != NULL && r->r_start <= va ? r : NULL;
}

/* The link to the first region that ends behind va. */
static struct region **
find_link(struct as *as, uintptr_t va)
{
	struct region **link = &as->as_regions;

	while (*link != NULL && (*link)->r_end <= va)
		link = &(*link)->r_next;
	return link;
}

uintptr_t
as_gap(struct as *as, size_t len, size_t align)
{
	uintptr_t best = 0, from = as->as_brk_base;

	/* The last gap that is large enough; the heap grows into the first. */
	if (from < USER_BASE)
		from = USER_BASE;
	for (struct region *r = as->as_regions;; r = r->r_next) {
		uintptr_t to = r != NULL ? r->r_start : USER_TOP;

		/* A page stays free on both sides of what is chosen. */
		if (to > from && to - from >= 2 * PAGE_SIZE &&
		    to - from - 2 * PAGE_SIZE >= len) {
			uintptr_t va = (to - PAGE_SIZE - len) & -align;

			if (va >= from + PAGE_SIZE)
				best = va;
		}
		if (r == NULL)
			return best;
		if (r->r_end > from)
			from = r->r_end;
	}
}

/*
 * Regions
 */

static struct region *
region_new(uintptr_t start, uintptr_t end, unsigned prot, bool contig)
{
	struct region *r = kmalloc(sizeof *r);

	if (r != NULL)
		*r = (struct region){ NULL, start, end, prot, contig,
			prot != 0 };
	return r;
}

/* Make va a boundary: no region straddles it. */
static int
region_split(struct as *as, uintptr_t va)
{
	struct region *r = as_find(as, va), *tail;

	if (r == NULL || r->r_start == va)
		return 0;
	if (r->r_contig && va % LARGE_SIZE != 0)
		return EINVAL;
	if ((tail = region_new(va, r->r_end, r->r_prot, r->r_contig)) == NULL)
		return ENOMEM;
	tail->r_pages = r->r_pages;
	tail->r_next = r->r_next;
	r->r_next = tail;
	r->r_end = va;
	return 0;
}

/* Join like neighbours, so that a heap that grows stays one region. */
static void
regions_merge(struct as *as)
{
	for (struct region *r = as->as_regions; r != NULL;) {
		struct region *n = r->r_next;

		if (n != NULL && r->r_end == n->r_start &&
		    r->r_prot == n->r_prot && r->r_contig == n->r_contig &&
		    r->r_pages == n->r_pages) {
			r->r_end = n->r_end;
			r->r_next = n->r_next;
			kfree(n);
		} else {
			r = n;
		}
	}
}

int
as_map(struct as *as, uintptr_t va, size_t len, unsigned prot, bool contig)
{
	struct region **link, *r;
	int err = 0;

	if (!range_ok(va, len))
		return EINVAL;
	if (contig && (va | len) % LARGE_SIZE != 0)
		return EINVAL;
	link = find_link(as, va);
	if (*link != NULL && (*link)->r_start < va + len)
		return EEXIST;
	if ((r = region_new(va, va + len, prot, contig)) == NULL)
		return ENOMEM;
	if (prot != 0)
		err = pages_populate(as, va, len, prot, contig);
	if (err != 0) {
		kfree(r);
		return err;
	}
	r->r_next = *link;
	*link = r;
	regions_merge(as);
	return 0;
}

int
as_unmap(struct as *as, uintptr_t va, size_t len)
{
	uintptr_t end = va + len;
	struct region **link;
	int err;

	if (!range_ok(va, len))
		return EINVAL;
	if ((err = region_split(as, va)) != 0 ||
	    (err = region_split(as, end)) != 0)
		return err;
	link = find_link(as, va);
	while (*link != NULL && (*link)->r_start < end) {
		struct region *r = *link;

		/* A reservation may be of many TiB: looking takes hours. */
		if (r->r_pages)
			pages_free(
			    as, r->r_start, r->r_end - r->r_start, r->r_contig);
		*link = r->r_next;
		kfree(r);
	}
	return 0;
}

int
as_protect(struct as *as, uintptr_t va, size_t len, unsigned prot)
{
	uintptr_t end = va + len, at = va;
	int err;

	if (!range_ok(va, len))
		return ENOMEM;
	if ((err = region_split(as, va)) != 0 ||
	    (err = region_split(as, end)) != 0)
		return err;
	for (struct region *r = *find_link(as, va); r != NULL && at < end;
	     r = r->r_next) {
		if (r->r_start > at)
			return ENOMEM; /* a hole; what lies before it is done */
		if (r->r_pages)
			err =
			    pages_protect(as, r->r_start, r->r_end - r->r_start,
				r->r_prot, prot, r->r_contig);
		else if (prot != 0)
			err = pages_populate(as, r->r_start,
			    r->r_end - r->r_start, prot, r->r_contig);
		if (err != 0)
			return err;
		r->r_prot = prot;
		r->r_pages |= prot != 0;
		at = r->r_end;
	}
	regions_merge(as);
	return at < end ? ENOMEM : 0;
}

int
as_move(struct as *as, uintptr_t from, uintptr_t to, size_t len)
{
	struct region *r = as_find(as, from), *n, **link;
	int err;

	if (r == NULL || r->r_end < from + len || r->r_contig)
		return EFAULT;
	if (!range_ok(to, len) || as_find(as, to) != NULL)
		return EINVAL;
	if ((n = region_new(to, to + len, r->r_prot, false)) == NULL)
		return ENOMEM;
	n->r_pages = r->r_pages;
	if ((err = region_split(as, from)) != 0 ||
	    (err = region_split(as, from + len)) != 0)
		goto free_region;
	if (n->r_pages && (err = pages_move(as, from, to, len, n->r_prot)) != 0)
		goto free_region;
	err = as_unmap(as, from, len);
	ASSERT(err == 0); /* split above: nothing left to fail */
	link = find_link(as, to);
	n->r_next = *link;
	*link = n;
	regions_merge(as);
	return 0;

free_region:
	kfree(n);
	return err;
}
