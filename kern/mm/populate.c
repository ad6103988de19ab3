/*
 * Gives regions their pages, and maps, protects, moves and frees these.
 *
 * An accessible page is mapped in the tables of its address space.  When
 * PROT_NONE takes all access from a page, its mapping moves to the tables of a
 * second address space, as->as_hidden, which no CPU runs in.  There the page
 * keeps its content until access returns.
 */
#include "kern/mm/populate.h"

#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/mm/page.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "lib/printf.h"
#include "lib/string.h"

/*
 * Ordinary memory is allocated in blocks below 2 MiB.  So it has no large
 * pages, and each of its pages can be unmapped or protected separately.
 */
#define BLOCK_ORDER 8
#define LARGE_ORDER 9

/* The protection to pass to the architecture's functions. */
static unsigned
arch_prot(const struct as *as, unsigned prot)
{
	if (prot & (PROT_WRITE | PROT_EXEC))
		prot |= PROT_READ;
	return as->as_system ? prot : prot | PROT_USER;
}

int
pages_map(struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot)
{
	int err = arch_map(as, va, pa, len, arch_prot(as, prot));

	if (err != 0)
		arch_unmap(as, va, len);
	return err;
}

int
pages_map_shared(
    struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot)
{
	const size_t block = PAGE_SIZE << BLOCK_ORDER;

	for (size_t at = 0; at < len; at += block) {
		int err = pages_map(as, va + at, pa + at,
		    len - at < block ? len - at : block, prot);

		if (err != 0) {
			arch_unmap(as, va, at);
			return err;
		}
	}
	return 0;
}

/* Returns the address space that maps the page at va, or NULL if no page. */
static struct as *
find_mapping(struct as *as, uintptr_t va, uint64_t *pa)
{
	if ((*pa = arch_translate(as, va)) != ~0ULL)
		return as;
	if (as->as_hidden != NULL &&
	    (*pa = arch_translate(as->as_hidden, va)) != ~0ULL)
		return as->as_hidden;
	return NULL;
}

uint64_t
pages_where(const struct as *as, uintptr_t va)
{
	uint64_t pa;

	find_mapping((struct as *)as, va, &pa);
	return pa;
}

void
pages_unmap(struct as *as, uintptr_t va, size_t len)
{
	entry_budget_add(len >> PAGE_SHIFT);
	arch_unmap(as, va, len);
	if (as->as_hidden != NULL)
		arch_unmap(as->as_hidden, va, len);
}

/* Pages to unmap at once: the other CPUs are interrupted once for all. */
#define FREE_BATCH 32

/* Free up to FREE_BATCH pages of this order from va on; some may be absent. */
static void
free_batch(struct as *as, uintptr_t va, size_t steps, unsigned order)
{
	size_t step = PAGE_SIZE << order;
	uint64_t pa[FREE_BATCH];
	unsigned n = 0;

	for (size_t i = 0; i < steps; i++) {
		if (find_mapping(as, va + i * step, &pa[n]) != NULL)
			n++;
	}
	arch_unmap(as, va, steps * step);
	if (as->as_hidden != NULL)
		arch_unmap(as->as_hidden, va, steps * step);
	entry_budget_add((size_t)n << order);
	as->as_npages -= (size_t)n << order;
	/* Free each run of adjacent pages at once. */
	for (unsigned i = 0, run; i < n; i += run) {
		run = 1;
		while (i + run < n && pa[i + run] == pa[i] + run * step)
			run++;
		if (run == 1)
			page_free(pa_to_va(pa[i]), order);
		else
			page_free_run(pa_to_va(pa[i]), (size_t)run << order);
	}
}

void
pages_free(struct as *as, uintptr_t va, size_t len, bool contig)
{
	unsigned order = contig ? LARGE_ORDER : 0;
	size_t step = PAGE_SIZE << order;

	while (len > 0) {
		size_t pages =
		    len / step < FREE_BATCH ? len / step : FREE_BATCH;

		free_batch(as, va, pages, order);
		va += pages * step;
		len -= pages * step;
	}
}

void
pages_zero(struct as *as, uintptr_t va, size_t len)
{
	entry_budget_add(len >> PAGE_SHIFT);
	for (uintptr_t end = va + len; va < end; va += PAGE_SIZE) {
		uint64_t pa = arch_translate(as, va);

		ASSERT(pa != ~0ULL);
		arch_page_zero(pa_to_va(pa), PAGE_SIZE);
	}
}

/*
 * QEMU keeps translations of the code in a page until stores overwrite it.
 * Until then each store to the page is some twenty times slower.
 * arch_page_zero() does not help on arm64: QEMU 7.2 looks only at the first
 * byte of a block that DC ZVA clears.
 *
 * QEMU, accel/tcg/cputlb.c: probe_access() and notdirty_write().
 */
void
pages_forget_code(struct as *as, uintptr_t va, size_t len)
{
	entry_budget_add(len >> PAGE_SHIFT);
	for (uintptr_t end = va + len; va < end; va += PAGE_SIZE) {
		uint64_t pa = arch_translate(as, va);

		if (pa != ~0ULL)
			memset(pa_to_va(pa), 0, PAGE_SIZE);
	}
}

/* Map one zeroed block at va, as large as len and memory allow: *done bytes. */
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
	if ((err = pages_map(as, va, va_to_pa(p), *done, prot)) != 0)
		page_free(p, order);
	else
		as->as_npages += 1UL << order;
	entry_budget_add(1UL << order);
	return err;
}

static int
populate_blocks(struct as *as, uintptr_t va, size_t len, unsigned prot)
{
	uintptr_t at = va, end = va + len;

	while (at < end) {
		size_t done;
		int err = populate_block(as, at, end - at, prot, &done);

		if (err != 0) {
			pages_free(as, va, at - va, false);
			return err;
		}
		at += done;
	}
	return 0;
}

static int
populate_run(struct as *as, uintptr_t va, size_t len, unsigned prot)
{
	size_t pages = len >> PAGE_SHIFT;
	char *p = page_alloc_run(pages);
	int err;

	if (p == NULL)
		return ENOMEM;
	entry_budget_add(pages);
	arch_page_zero(p, len);
	if ((err = pages_map(as, va, va_to_pa(p), len, prot)) != 0) {
		page_free_run(p, pages);
		return err;
	}
	as->as_npages += pages;
	return 0;
}

int
pages_populate(
    struct as *as, uintptr_t va, size_t len, unsigned prot, bool contig)
{
	/* Check first, so that a hopeless request does not zero much memory. */
	if (len >> PAGE_SHIFT > page_nfree())
		return ENOMEM;
	return contig ? populate_run(as, va, len, prot)
	              : populate_blocks(as, va, len, prot);
}

/* Hide the page at va if prot is 0, else make it accessible again. */
static int
hide_or_show(struct as *as, uintptr_t va, size_t step, unsigned prot)
{
	struct as *from = prot == 0 ? as : as->as_hidden;
	struct as *to = prot == 0 ? as->as_hidden : as;
	int err = pages_map(to, va, arch_translate(from, va), step,
	    prot == 0 ? PROT_READ : prot);

	if (err == 0)
		arch_unmap(from, va, step);
	return err;
}

int
pages_protect(struct as *as, uintptr_t va, size_t len, unsigned was,
    unsigned prot, bool contig)
{
	bool had_hidden = as->as_hidden != NULL;
	size_t step = contig ? LARGE_SIZE : PAGE_SIZE;
	uintptr_t at = va, end = va + len;
	int err;

	if (was == 0 && prot == 0)
		return 0;
	entry_budget_add(len / step);
	if (was != 0 && prot != 0) {
		arch_protect(as, va, len, arch_prot(as, prot));
		return 0;
	}
	if (as->as_hidden == NULL)
		as->as_hidden = as_new(as->as_system);
	if (as->as_hidden == NULL)
		return ENOMEM;
	for (; at < end; at += step) {
		if ((err = hide_or_show(as, at, step, prot)) != 0)
			goto undo;
	}
	return 0;

undo:
	while (at > va) {
		int back = hide_or_show(as, at -= step, step, was);

		ASSERT(back == 0); /* the tables of its old place still exist */
	}
	if (!had_hidden) {
		as_release(as->as_hidden);
		as->as_hidden = NULL;
	}
	return err;
}

int
pages_move(
    struct as *as, uintptr_t from, uintptr_t to, size_t len, unsigned prot)
{
	size_t off;
	uint64_t pa;
	struct as *h;
	int err;

	entry_budget_add(2 * (len >> PAGE_SHIFT));
	/* First map all pages at the new place as well, which may fail. */
	for (off = 0; off < len; off += PAGE_SIZE) {
		if ((h = find_mapping(as, from + off, &pa)) == NULL)
			continue;
		if ((err = pages_map(h, to + off, pa, PAGE_SIZE, prot)) != 0)
			goto unmap;
	}
	/* Then unmap them at the old place, which cannot fail. */
	for (off = 0; off < len; off += PAGE_SIZE) {
		if ((h = find_mapping(as, from + off, &pa)) != NULL)
			arch_unmap(h, from + off, PAGE_SIZE);
	}
	return 0;

unmap:
	while (off > 0) {
		off -= PAGE_SIZE;
		if ((h = find_mapping(as, to + off, &pa)) != NULL)
			arch_unmap(h, to + off, PAGE_SIZE);
	}
	return err;
}

void
as_write(struct as *as, uintptr_t va, const void *src, size_t len)
{
	const char *s = src;

	entry_budget_add(len >> PAGE_SHIFT);
	while (len > 0) {
		size_t in_page = va % PAGE_SIZE, n = PAGE_SIZE - in_page;
		uint64_t pa;
		struct as *h = find_mapping(as, va - in_page, &pa);

		if (n > len)
			n = len;
		ASSERT(h != NULL);
		memcpy((char *)pa_to_va(pa) + in_page, s, n);
		va += n;
		s += n;
		len -= n;
	}
}

uint32_t *
as_word(struct as *as, uintptr_t va)
{
	const struct region *r = as_find(as, va);
	uint64_t pa;

	if (va % sizeof(uint32_t) != 0 || r == NULL ||
	    (r->r_prot & PROT_WRITE) == 0 ||
	    find_mapping(as, va & -PAGE_SIZE, &pa) == NULL)
		return NULL;
	return (uint32_t *)((char *)pa_to_va(pa) + va % PAGE_SIZE);
}

void
as_sync_code(struct as *as, uintptr_t va, size_t len)
{
	uintptr_t end = va + len;

	entry_budget_add(len >> PAGE_SHIFT);
	for (va &= -PAGE_SIZE; va < end; va += PAGE_SIZE) {
		uint64_t pa = arch_translate(as, va);

		if (pa != ~0ULL)
			arch_icache_sync(pa_to_va(pa), PAGE_SIZE);
	}
}
