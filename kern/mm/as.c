/*
 * The operations on an address space: map, unmap, protect, move, zero.  This
 * file keeps the regions; populate.c keeps the pages below them.
 */
#include "kern/mm/as.h"

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/mm/populate.h"
#include "kern/mm/shared_memory.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "lib/printf.h"

/* Is [va, va + len) a range of whole pages in the user half? */
static bool
range_ok(uintptr_t va, size_t len)
{
	return (va | len) % PAGE_SIZE == 0 && len > 0 && va >= USER_BASE &&
	       va <= REGION_TOP && len <= REGION_TOP - va;
}

static unsigned nspaces;
bool as_last;

struct as *
as_new(bool system)
{
	struct as *as = kmalloc(sizeof *as);

	if (as == NULL)
		return NULL;
	*as = (struct as){ .as_refs = 1, .as_system = system };
	if (arch_as_init(as) == 0) {
		nspaces++;
		return as;
	}
	kfree(as);
	return NULL;
}

struct as *
as_hold(struct as *as)
{
	as->as_refs++;
	return as;
}

void
as_release(struct as *as)
{
	if (--as->as_refs > 0)
		return;
	nspaces--;
	while (as->as_regions.rt_root != NULL) {
		struct region *r = as->as_regions.rt_root;
		int err = as_unmap(as, r->r_start, r->r_end - r->r_start);

		ASSERT(err == 0); /* only a split can fail */
	}
	ASSERT(as->as_npages == 0);
	if (as->as_hidden != NULL)
		as_release(as->as_hidden);
	arch_as_free(as);
	kfree(as);
}

struct region *
as_find(struct as *as, uintptr_t va)
{
	struct region *r = region_ending_after(&as->as_regions, va);

	return r != NULL && r->r_start <= va ? r : NULL;
}

/* The highest range in [from, to) with a free page on both sides, or 0. */
static uintptr_t
place_within(uintptr_t from, uintptr_t to, size_t len, size_t align)
{
	if (to <= from || to - from < 2 * PAGE_SIZE ||
	    to - from - 2 * PAGE_SIZE < len)
		return 0;
	uintptr_t va = (to - PAGE_SIZE - len) & -align;
	return va >= from + PAGE_SIZE ? va : 0;
}

uintptr_t
as_gap(struct as *as, size_t len, size_t align)
{
	const struct region_tree *rt = &as->as_regions;
	const struct region *r = rt->rt_last;
	uintptr_t va, from, low = as->as_brk_base;

	/* Use the lowest gap last: the heap grows into it. */
	if (low < USER_BASE)
		low = USER_BASE;
	from = r != NULL && r->r_end > low ? r->r_end : low;
	va = place_within(from, REGION_TOP, len, align);
	r = region_with_gap(rt, NULL, len + 2 * PAGE_SIZE);
	for (; va == 0 && r != NULL && r->r_start > low;
	     r = region_with_gap(rt, r, len + 2 * PAGE_SIZE)) {
		from = r->r_prev != NULL && r->r_prev->r_end > low
		           ? r->r_prev->r_end
		           : low;
		va = place_within(from, r->r_start, len, align);
	}
	return va;
}

/* Regions */

static struct region *
region_new(const struct as *as, uintptr_t start, uintptr_t end, unsigned prot,
    bool contig)
{
	struct region *r = kmalloc(sizeof *r);

	entry_budget_add(1);
	if (r != NULL)
		*r = (struct region){ .r_start = start,
			.r_end = end,
			.r_prot = prot,
			.r_contig = contig,
			.r_locked = as->as_lock,
			.r_fork = FORK_COPY,
			.r_pages = prot != 0 };
	return r;
}

static void
region_free(struct region *r)
{
	shared_release(r->r_memory);
	kfree(r);
}

/* The pages of r are of the same kind as those of `like` from va on. */
static void
region_like(struct region *r, const struct region *like, uintptr_t va)
{
	r->r_file = like->r_file;
	r->r_file_bytes = like->r_file_bytes;
	r->r_offset = like->r_offset + (va - like->r_start);
	r->r_pages = like->r_pages;
	r->r_shared = like->r_shared;
	r->r_read_only = like->r_read_only;
	r->r_fork = like->r_fork;
	r->r_locked = like->r_locked;
	r->r_memory = shared_hold(like->r_memory);
}

/* Split the region that contains va, so that a region starts at va. */
static int
region_split(struct as *as, uintptr_t va)
{
	struct region *r = as_find(as, va), *tail;

	if (r == NULL || r->r_start == va)
		return 0;
	if (r->r_contig && va % LARGE_SIZE != 0)
		return EINVAL;
	if ((tail = region_new(as, va, r->r_end, r->r_prot, r->r_contig)) ==
	    NULL)
		return ENOMEM;
	region_like(tail, r, va);
	r->r_end = va;
	region_insert(&as->as_regions, tail);
	return 0;
}

static bool
can_merge(const struct region *r, const struct region *n)
{
	return r->r_end == n->r_start && r->r_prot == n->r_prot &&
	       r->r_contig == n->r_contig && r->r_pages == n->r_pages &&
	       r->r_shared == n->r_shared && r->r_memory == n->r_memory &&
	       r->r_read_only == n->r_read_only && r->r_fork == n->r_fork &&
	       r->r_locked == n->r_locked && r->r_file == n->r_file &&
	       (r->r_file == NULL ||
		   (r->r_file_bytes == n->r_file_bytes &&
		       n->r_offset - r->r_offset == n->r_start - r->r_start));
}

/*
 * Merge equal neighbours, from the region before r up to the one at va.  So a
 * heap that grows stays one region.
 */
static void
regions_merge(struct as *as, struct region *r, uintptr_t va)
{
	struct region *n;

	if (r->r_prev != NULL)
		r = r->r_prev;
	while ((n = r->r_next) != NULL && n->r_start <= va) {
		if (can_merge(r, n))
			region_free(region_absorb(&as->as_regions, r));
		else
			r = n;
	}
}

bool
as_is_free(const struct as *as, uintptr_t va, size_t len)
{
	const struct region *r = region_ending_after(&as->as_regions, va);

	return r == NULL || r->r_start >= va + len;
}

int
as_map_shared(struct as *as, uintptr_t va, uint64_t pa, size_t len,
    unsigned prot, struct shared_memory *m, bool read_only)
{
	struct region *r;
	int err;

	if (!range_ok(va, len) || pa % PAGE_SIZE != 0)
		return EINVAL;
	if (!as_is_free(as, va, len))
		return EEXIST;
	if ((r = region_new(as, va, va + len, prot, false)) == NULL)
		return ENOMEM;
	r->r_shared = true;
	r->r_read_only = read_only;
	if ((err = pages_map_shared(as, va, pa, len, prot)) != 0) {
		kfree(r);
		return err;
	}
	r->r_memory = shared_hold(m);
	region_insert(&as->as_regions, r);
	regions_merge(as, r, va + len);
	return 0;
}

/* Merge again what split_off(va, end) split, where both sides are equal. */
static void
join_again(struct as *as, uintptr_t va, uintptr_t end)
{
	struct region *r = region_ending_after(&as->as_regions, va);

	if (r != NULL)
		regions_merge(as, r, end);
}

/* Make va and end boundaries of regions.  A failure leaves no new boundary. */
static int
split_off(struct as *as, uintptr_t va, uintptr_t end)
{
	int err;

	if ((err = region_split(as, va)) != 0)
		return err;
	if ((err = region_split(as, end)) != 0)
		join_again(as, va, end);
	return err;
}

int
as_note_file(struct as *as, uintptr_t va, size_t len, const char *file,
    size_t bytes, size_t offset, bool read_only)
{
	int err;

	if (file == NULL || (err = split_off(as, va, va + len)) != 0)
		return file == NULL ? 0 : err;
	struct region *r = as_find(as, va);
	r->r_file = file;
	r->r_file_bytes = bytes;
	r->r_offset = offset;
	r->r_read_only = read_only;
	join_again(as, va, va + len);
	return 0;
}

/* Copy the content of r's file to the zeroed pages of a range in it. */
static void
fill_from_file(struct as *as, const struct region *r, uintptr_t va, size_t len)
{
	size_t from = r->r_offset + (va - r->r_start);

	if (r->r_file == NULL)
		return;
	if (from < r->r_file_bytes)
		as_write(as, va, r->r_file + from,
		    len < r->r_file_bytes - from ? len
						 : r->r_file_bytes - from);
}

int
as_map(struct as *as, uintptr_t va, size_t len, unsigned prot, bool contig)
{
	struct region *r;
	int err = 0;

	if (!range_ok(va, len))
		return EINVAL;
	if (contig && (va | len) % LARGE_SIZE != 0)
		return EINVAL;
	if (!as_is_free(as, va, len))
		return EEXIST;
	if ((r = region_new(as, va, va + len, prot, contig)) == NULL)
		return ENOMEM;
	if (prot != 0)
		err = pages_populate(as, va, len, prot, contig);
	if (err != 0) {
		kfree(r);
		return err;
	}
	region_insert(&as->as_regions, r);
	regions_merge(as, r, va + len);
	return 0;
}

int
as_unmap(struct as *as, uintptr_t va, size_t len)
{
	uintptr_t end = va + len;
	struct region *r, *next;
	int err;

	if (!range_ok(va, len))
		return EINVAL;
	if ((err = split_off(as, va, end)) != 0)
		return err;
	for (r = region_ending_after(&as->as_regions, va);
	     r != NULL && r->r_start < end; r = next) {
		size_t bytes = r->r_end - r->r_start;

		next = r->r_next;
		if ((r->r_prot & PROT_EXEC) != 0 && !r->r_shared &&
		    !(as_last && nspaces == 0)) /* else nothing runs */
			pages_forget_code(as, r->r_start, bytes);
		/*
		 * Skip regions without pages: a reservation of many TiB
		 * would take hours to walk.
		 */
		if (r->r_shared)
			pages_unmap(as, r->r_start, bytes);
		else if (r->r_pages)
			pages_free(as, r->r_start, bytes, r->r_contig);
		entry_budget_add(1);
		region_remove(&as->as_regions, r);
		region_free(r);
	}
	return 0;
}

static int
region_protect(struct as *as, struct region *r, unsigned prot)
{
	size_t len = r->r_end - r->r_start;
	int err = 0;

	if (r->r_read_only && (prot & PROT_WRITE) != 0)
		return EACCES;
	r->r_was_prot = r->r_prot;
	r->r_had_pages = r->r_pages;
	if (r->r_pages)
		err = pages_protect(
		    as, r->r_start, len, r->r_prot, prot, r->r_contig);
	else if (prot != 0)
		err = pages_populate(as, r->r_start, len, prot, r->r_contig);
	if (err != 0)
		return err;
	if (!r->r_pages && prot != 0)
		fill_from_file(as, r, r->r_start, len);
	r->r_prot = prot;
	r->r_pages |= prot != 0;
	return 0;
}

/* Undo region_protect() for the regions from va up to the one that failed. */
static void
undo_protect(struct as *as, uintptr_t va, const struct region *failed)
{
	struct region *r = region_ending_after(&as->as_regions, va);

	for (; r != failed; r = r->r_next) {
		size_t len = r->r_end - r->r_start;

		if (r->r_had_pages) {
			int err = pages_protect(as, r->r_start, len, r->r_prot,
			    r->r_was_prot, r->r_contig);

			ASSERT(err == 0); /* all page tables exist */
		} else if (r->r_pages) {
			pages_free(as, r->r_start, len, r->r_contig);
		}
		r->r_prot = r->r_was_prot;
		r->r_pages = r->r_had_pages;
	}
}

int
as_protect(struct as *as, uintptr_t va, size_t len, unsigned prot)
{
	uintptr_t end = va + len, at = va;
	int err;

	if (!range_ok(va, len))
		return ENOMEM;
	if ((err = split_off(as, va, end)) != 0)
		return err;
	struct region *r = region_ending_after(&as->as_regions, va);
	for (; r != NULL && at < end; r = r->r_next) {
		if (r->r_start > at)
			break; /* a hole; the part before it stays changed */
		if ((err = region_protect(as, r, prot)) != 0) {
			undo_protect(as, va, r);
			join_again(as, va, end);
			return err;
		}
		at = r->r_end;
	}
	join_again(as, va, end);
	return at < end ? ENOMEM : 0;
}

int
as_mark(struct as *as, uintptr_t va, size_t len, enum mark mark)
{
	uintptr_t end = va + len, at = va;
	bool hole = false;
	int err = 0;

	if (!range_ok(va, len))
		return ENOMEM;
	/* MAP_CONTIG memory is never dropped: part of it needs no lock. */
	if (mark >= FORK_COPY && (err = split_off(as, va, end)) != 0)
		return mark >= LOCK && err == EINVAL ? 0 : err;
	for (struct region *r = region_ending_after(&as->as_regions, va);
	     r != NULL && r->r_start < end && err == 0; r = r->r_next) {
		entry_budget_add(1);
		hole |= r->r_start > at;
		if (mark >= LOCK)
			r->r_locked = mark == LOCK;
		else if (mark == SYNC && r->r_locked)
			err = EBUSY;
		else if ((mark == FORK_ZERO || mark == FREE) &&
			 (r->r_shared || r->r_file != NULL ||
			     (mark == FREE && r->r_locked)))
			err = EINVAL;
		else if (mark >= FORK_COPY)
			r->r_fork = mark;
		at = r->r_end;
	}
	join_again(as, va, end);
	return err == 0 && (hole || at < end) ? ENOMEM : err;
}

/*
 * Make the content of a range in r new.  Other LWPs may read it.  So what the
 * file has is copied over the old content, and only the rest is zeroed.
 */
static void
refresh(struct as *as, const struct region *r, uintptr_t va, size_t len)
{
	static const char zeros[PAGE_SIZE];
	size_t from = r->r_offset + (va - r->r_start), n = 0, rest;

	if (r->r_file != NULL && from < r->r_file_bytes)
		n = r->r_file_bytes - from;
	n = n < len ? n : len;
	rest = -n & (PAGE_SIZE - 1);
	if (n > 0)
		as_write(as, va, r->r_file + from, n);
	if (rest > 0)
		as_write(as, va + n, zeros, rest);
	if (n + rest < len)
		pages_zero(as, va + n + rest, len - n - rest);
	if (n > 0 && (r->r_prot & PROT_EXEC))
		as_sync_code(as, va, len);
}

/* as_zero() of a range inside a region. */
static int
region_zero(struct as *as, struct region *r, uintptr_t va, size_t len)
{
	int err;

	if (r->r_contig)
		return EINVAL;
	if (!r->r_pages || r->r_shared)
		return 0; /* shared content stays */
	if (r->r_prot != 0) {
		refresh(as, r, va, len);
		return 0;
	}
	if ((err = split_off(as, va, va + len)) != 0)
		return err;
	pages_free(as, va, len, false);
	as_find(as, va)->r_pages = false;
	join_again(as, va, va + len);
	return 0;
}

int
as_zero(struct as *as, uintptr_t va, size_t len, bool locked)
{
	uintptr_t at = va, end = va + len;
	bool hole = false;
	struct region *r;
	int err;

	if (end < va)
		return EINVAL;
	/* A merge may remove r: look it up again. */
	while (at < end &&
	       (r = region_ending_after(&as->as_regions, at)) != NULL &&
	       r->r_start < end) {
		uintptr_t to = r->r_end < end ? r->r_end : end;

		if (r->r_start > at) {
			at = r->r_start;
			hole = true;
		}
		err = r->r_locked && !locked ? EINVAL
		                             : region_zero(as, r, at, to - at);
		if (err != 0)
			return err;
		at = to;
	}
	return hole || at < end ? ENOMEM : 0;
}

int
as_move(struct as *as, uintptr_t from, uintptr_t to, size_t len)
{
	struct region *r = as_find(as, from), *n;
	int err;

	if (r == NULL || r->r_end < from + len || r->r_contig)
		return EFAULT;
	if (!range_ok(to, len) || as_find(as, to) != NULL)
		return EINVAL;
	if ((n = region_new(as, to, to + len, r->r_prot, false)) == NULL)
		return ENOMEM;
	region_like(n, r, from);
	if ((err = split_off(as, from, from + len)) != 0)
		goto free_region;
	if (n->r_pages && (err = pages_move(as, from, to, len, n->r_prot)) != 0)
		goto join;
	err = as_unmap(as, from, len);
	ASSERT(err == 0); /* the splits are done: nothing else can fail */
	region_insert(&as->as_regions, n);
	regions_merge(as, n, to + len);
	return 0;

join:
	join_again(as, from, from + len);
free_region:
	region_free(n);
	return err;
}
