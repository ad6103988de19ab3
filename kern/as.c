#include "kern/as.h"

#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/page.h"
#include "lib/printf.h"
#include "lib/string.h"

/*
 * Blocks of ordinary memory stay below 2 MiB, so that no large page arises
 * and every part of a mapping can be unmapped or protected by itself.
 */
#define BLOCK_ORDER 8
#define LARGE_ORDER 9

/* [va, va + len) are whole pages of the user half. */
static bool
range_ok(uintptr_t va, size_t len)
{
	return (va | len) % PAGE_SIZE == 0 && len > 0 && va >= USER_BASE &&
	       va <= USER_TOP && len <= USER_TOP - va;
}

/* How the machine is told of a protection. */
static unsigned
arch_prot(const struct as *as, unsigned prot)
{
	if (prot & (PROT_WRITE | PROT_EXEC))
		prot |= PROT_READ;
	return as->as_system ? prot : prot | PROT_USER;
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
		*r = (struct region){ NULL, start, end, prot, contig };
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
		    r->r_prot == n->r_prot && r->r_contig == n->r_contig) {
			r->r_end = n->r_end;
			r->r_next = n->r_next;
			kfree(n);
		} else {
			r = n;
		}
	}
}

/*
 * Pages.  A populated page is in the tables of as, or of as_hidden.
 */

static struct as *
hidden(struct as *as)
{
	struct as *h = as->as_hidden;

	if (h != NULL)
		return h;
	if ((h = kmalloc(sizeof *h)) == NULL)
		return NULL;
	if (as_init(h, as->as_system) != 0) {
		kfree(h);
		return NULL;
	}
	as->as_hidden = h;
	return h;
}

/* The tables that hold the page at va, or NULL where there is no page. */
static struct as *
holder(struct as *as, uintptr_t va, uint64_t *pa)
{
	if ((*pa = arch_translate(as, va)) != ~0ULL)
		return as;
	if (as->as_hidden != NULL &&
	    (*pa = arch_translate(as->as_hidden, va)) != ~0ULL)
		return as->as_hidden;
	return NULL;
}

static void
free_pages(struct as *as, uintptr_t va, size_t len, size_t step)
{
	unsigned order = step == PAGE_SIZE ? 0 : LARGE_ORDER;

	for (uintptr_t end = va + len; va < end; va += step) {
		uint64_t pa;
		struct as *h = holder(as, va, &pa);

		if (h == NULL)
			continue;
		arch_unmap(h, va, step);
		page_free(pa_to_va(pa), order);
		as->as_npages -= step / PAGE_SIZE;
	}
}

/* One zeroed block of at most len bytes at va, where nothing is mapped. */
static int
populate_block(
    struct as *as, uintptr_t va, size_t len, unsigned prot, size_t *done)
{
	unsigned order = BLOCK_ORDER;
	void *p;
	int err;

	while (PAGE_SIZE << order > len)
		order--;
	while ((p = page_zalloc(order)) == NULL) {
		if (order-- == 0)
			return ENOMEM;
	}
	*done = PAGE_SIZE << order;
	if ((err = arch_map(as, va, va_to_pa(p), *done, prot)) != 0)
		page_free(p, order);
	else
		as->as_npages += 1UL << order;
	return err;
}

/* Give every page of the range that has none a zeroed one. */
static int
populate(struct as *as, uintptr_t va, size_t len, unsigned prot)
{
	uintptr_t at = va, end = va + len;

	while (at < end) {
		size_t done;
		int err = populate_block(as, at, end - at, prot, &done);

		if (err != 0) {
			free_pages(as, va, at - va, PAGE_SIZE);
			return err;
		}
		at += done;
	}
	return 0;
}

static int
populate_contig(struct as *as, uintptr_t va, size_t len, unsigned prot)
{
	size_t pages = len >> PAGE_SHIFT;
	char *p = page_alloc_run(pages);
	int err;

	if (p == NULL)
		return ENOMEM;
	memset(p, 0, len);
	if ((err = arch_map(as, va, va_to_pa(p), len, prot)) != 0) {
		page_free_run(p, pages);
		return err;
	}
	as->as_npages += pages;
	return 0;
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
	if (contig)
		err = populate_contig(as, va, len, arch_prot(as, prot));
	else if (prot != 0)
		err = populate(as, va, len, arch_prot(as, prot));
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

		free_pages(as, r->r_start, r->r_end - r->r_start,
		    r->r_contig ? LARGE_SIZE : PAGE_SIZE);
		*link = r->r_next;
		kfree(r);
	}
	return 0;
}

/*
 * Protection
 */

/* Move the mapping of a page between the visible and the hidden tables. */
static int
transfer(
    struct as *from, struct as *to, uintptr_t va, size_t step, unsigned prot)
{
	uint64_t pa = arch_translate(from, va);
	int err = arch_map(to, va, pa, step, prot);

	if (err == 0)
		arch_unmap(from, va, step);
	return err;
}

static int
protect_page(struct as *as, uintptr_t va, size_t step, unsigned prot)
{
	unsigned aprot = arch_prot(as, prot);
	uint64_t pa;
	struct as *h = holder(as, va, &pa);
	size_t done;

	if (h == as && prot != 0)
		return arch_protect(as, va, step, aprot);
	if (h == as) {
		if ((h = hidden(as)) == NULL)
			return ENOMEM;
		return transfer(as, h, va, step, arch_prot(as, PROT_READ));
	}
	if (prot == 0)
		return 0;
	if (h == NULL)
		return populate_block(as, va, step, aprot, &done);
	return transfer(h, as, va, step, aprot);
}

static int
protect_region(struct as *as, struct region *r, unsigned prot)
{
	size_t step = r->r_contig ? LARGE_SIZE : PAGE_SIZE;
	uintptr_t va;
	int err = 0;

	/* A reservation made accessible: the common case, in large blocks. */
	if (r->r_prot == 0 && as->as_hidden == NULL && !r->r_contig)
		err = populate(
		    as, r->r_start, r->r_end - r->r_start, arch_prot(as, prot));
	else
		for (va = r->r_start; va < r->r_end && err == 0; va += step)
			err = protect_page(as, va, step, prot);
	if (err == 0)
		r->r_prot = prot;
	return err;
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
		if (r->r_prot != prot &&
		    (err = protect_region(as, r, prot)) != 0)
			return err;
		at = r->r_end;
	}
	regions_merge(as);
	return at < end ? ENOMEM : 0;
}

int
as_move(struct as *as, uintptr_t from, uintptr_t to, size_t len)
{
	struct region *r = as_find(as, from), *n, **link;
	uintptr_t off;
	int err;

	if (r == NULL || r->r_end < from + len || r->r_contig)
		return EFAULT;
	if (!range_ok(to, len) || as_find(as, to) != NULL)
		return EINVAL;
	if ((n = region_new(to, to + len, r->r_prot, false)) == NULL)
		return ENOMEM;
	if ((err = region_split(as, from)) != 0 ||
	    (err = region_split(as, from + len)) != 0)
		goto free_region;
	for (off = 0; off < len; off += PAGE_SIZE) {
		uint64_t pa;
		struct as *h = holder(as, from + off, &pa);

		if (h == NULL)
			continue;
		err = arch_map(
		    h, to + off, pa, PAGE_SIZE, arch_prot(as, n->r_prot));
		if (err != 0)
			goto unmap;
	}
	/* Both mapped; now forget the old one without freeing its pages. */
	for (off = 0; off < len; off += PAGE_SIZE) {
		uint64_t pa;
		struct as *h = holder(as, from + off, &pa);

		if (h != NULL)
			arch_unmap(h, from + off, PAGE_SIZE);
	}
	err = as_unmap(as, from, len);
	ASSERT(err == 0); /* split above: nothing left to fail */
	link = find_link(as, to);
	n->r_next = *link;
	*link = n;
	regions_merge(as);
	return 0;

unmap:
	while (off > 0) {
		uint64_t pa;
		struct as *h;

		off -= PAGE_SIZE;
		if ((h = holder(as, to + off, &pa)) != NULL)
			arch_unmap(h, to + off, PAGE_SIZE);
	}
free_region:
	kfree(n);
	return err;
}

/*
 * Access by the kernel
 */

void
as_write(struct as *as, uintptr_t va, const void *src, size_t len)
{
	const char *s = src;

	while (len > 0) {
		size_t in_page = va % PAGE_SIZE;
		size_t n =
		    PAGE_SIZE - in_page < len ? PAGE_SIZE - in_page : len;
		uint64_t pa;
		struct as *h = holder(as, va - in_page, &pa);

		ASSERT(h != NULL);
		memcpy((char *)pa_to_va(pa) + in_page, s, n);
		va += n;
		s += n;
		len -= n;
	}
}

void
as_sync_code(struct as *as, uintptr_t va, size_t len)
{
	uintptr_t end = va + len;

	for (va &= -PAGE_SIZE; va < end; va += PAGE_SIZE) {
		uint64_t pa = arch_translate(as, va);

		if (pa != ~0ULL)
			arch_icache_sync(pa_to_va(pa), PAGE_SIZE);
	}
}
