#include "kern/mm/populate.h"

#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/platform/limit_pages.h"
#include "lib/printf.h"
#include "lib/string.h"

/*
 * Blocks of ordinary memory stay below 2 MiB, so that no large page arises
 * and every part of a mapping can be unmapped or protected by itself.
 */
#define BLOCK_ORDER 8
#define LARGE_ORDER 9

/* How the machine is told of a protection. */
static unsigned
arch_prot(const struct as *as, unsigned prot)
{
	if (prot & (PROT_WRITE | PROT_EXEC))
		prot |= PROT_READ;
	return as->as_system ? prot : prot | PROT_USER;
}

/* As arch_map(), but all or nothing. */
static int
map(struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot)
{
	int err = arch_map(as, va, pa, len, arch_prot(as, prot));

	if (err != 0)
		arch_unmap(as, va, len);
	return err;
}

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

static void
free_hidden(struct as *as)
{
	arch_as_free(as->as_hidden);
	kfree(as->as_hidden);
	as->as_hidden = NULL;
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

uint64_t
pages_where(const struct as *as, uintptr_t va)
{
	uint64_t pa;

	holder((struct as *)as, va, &pa);
	return pa;
}

int
pages_map(struct as *as, uintptr_t va, uint64_t pa, size_t len)
{
	return map(as, va, pa, len, PROT_READ);
}

void
pages_unmap(struct as *as, uintptr_t va, size_t len)
{
	arch_unmap(as, va, len);
	if (as->as_hidden != NULL)
		arch_unmap(as->as_hidden, va, len);
}

/* Pages that are unmapped together: other CPUs are told of them once. */
#define TOGETHER 32

/* So many steps from va on, of which some may have no page. */
static void
free_together(struct as *as, uintptr_t va, size_t steps, unsigned order)
{
	size_t step = PAGE_SIZE << order;
	uint64_t pa[TOGETHER];
	unsigned n = 0;

	for (size_t i = 0; i < steps; i++) {
		if (holder(as, va + i * step, &pa[n]) != NULL)
			n++;
	}
	arch_unmap(as, va, steps * step);
	if (as->as_hidden != NULL)
		arch_unmap(as->as_hidden, va, steps * step);
	limit_add((size_t)n << order);
	as->as_npages -= (size_t)n << order;
	for (unsigned i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && pa[i + run] == pa[i] + run * step;)
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

	for (size_t steps, left = len / step; left > 0; left -= steps) {
		steps = left < TOGETHER ? left : TOGETHER;
		free_together(as, va, steps, order);
		va += steps * step;
	}
}

void
pages_zero(struct as *as, uintptr_t va, size_t len)
{
	limit_add(len >> PAGE_SHIFT);
	for (uintptr_t end = va + len; va < end; va += PAGE_SIZE) {
		uint64_t pa = arch_translate(as, va);

		ASSERT(pa != ~0ULL);
		arch_page_zero(pa_to_va(pa), PAGE_SIZE);
	}
}

/* One zeroed block of at most len bytes at va. */
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
	if ((err = map(as, va, va_to_pa(p), *done, prot)) != 0)
		page_free(p, order);
	else
		as->as_npages += 1UL << order;
	limit_add(1UL << order);
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
	limit_add(pages);
	arch_page_zero(p, len);
	if ((err = map(as, va, va_to_pa(p), len, prot)) != 0) {
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
	/* Before much is zeroed in vain. */
	if (len >> PAGE_SHIFT > page_nfree())
		return ENOMEM;
	return contig ? populate_run(as, va, len, prot)
	              : populate_blocks(as, va, len, prot);
}

/* Move the mapping of a page between the visible and the hidden tables. */
static int
transfer(
    struct as *from, struct as *to, uintptr_t va, size_t step, unsigned prot)
{
	int err = map(to, va, arch_translate(from, va), step, prot);

	if (err == 0)
		arch_unmap(from, va, step);
	return err;
}

/* To or from no access at all. */
static int
hide_or_show(struct as *as, uintptr_t va, size_t step, unsigned prot)
{
	struct as *h = as->as_hidden;

	return prot == 0 ? transfer(as, h, va, step, PROT_READ)
	                 : transfer(h, as, va, step, prot);
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
	limit_add(len / step);
	if (was != 0 && prot != 0)
		return arch_protect(as, va, len, arch_prot(as, prot));
	if (hidden(as) == NULL)
		return ENOMEM;
	for (; at < end; at += step) {
		if ((err = hide_or_show(as, at, step, prot)) != 0)
			goto undo;
	}
	return 0;

undo:
	while (at > va) {
		int back = hide_or_show(as, at -= step, step, was);

		ASSERT(back == 0); /* the tables it came from are still there */
	}
	if (!had_hidden)
		free_hidden(as);
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

	limit_add(2 * (len >> PAGE_SHIFT));
	/* First map all of it twice, which may fail... */
	for (off = 0; off < len; off += PAGE_SIZE) {
		if ((h = holder(as, from + off, &pa)) == NULL)
			continue;
		if ((err = map(h, to + off, pa, PAGE_SIZE, prot)) != 0)
			goto unmap;
	}
	/* ...then forget where it was, which does not. */
	for (off = 0; off < len; off += PAGE_SIZE) {
		if ((h = holder(as, from + off, &pa)) != NULL)
			arch_unmap(h, from + off, PAGE_SIZE);
	}
	return 0;

unmap:
	while (off > 0) {
		off -= PAGE_SIZE;
		if ((h = holder(as, to + off, &pa)) != NULL)
			arch_unmap(h, to + off, PAGE_SIZE);
	}
	return err;
}

void
as_write(struct as *as, uintptr_t va, const void *src, size_t len)
{
	const char *s = src;

	limit_add(len >> PAGE_SHIFT);
	while (len > 0) {
		size_t in_page = va % PAGE_SIZE, n = PAGE_SIZE - in_page;
		uint64_t pa;
		struct as *h = holder(as, va - in_page, &pa);

		if (n > len)
			n = len;
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

	limit_add(len >> PAGE_SHIFT);
	for (va &= -PAGE_SIZE; va < end; va += PAGE_SIZE) {
		uint64_t pa = arch_translate(as, va);

		if (pa != ~0ULL)
			arch_icache_sync(pa_to_va(pa), PAGE_SIZE);
	}
}
