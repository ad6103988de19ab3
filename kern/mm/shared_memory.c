/*
 * Memory that processes share.  Its pages are a file's, or a list of blocks,
 * which are allocated when it is made: no page fault disturbs a count later.
 */
#include "kern/mm/shared_memory.h"

#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/mm/page.h"
#include "kern/mm/populate.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"

/* Below 2 MiB, as for other memory: no large pages (populate.c). */
#define BLOCK_ORDER 8

struct shared_block {
	struct shared_block *sb_next;
	void *sb_pages;
	unsigned sb_order;
};

struct shared_memory *
shared_hold(struct shared_memory *m)
{
	if (m != NULL)
		m->sm_refs++;
	return m;
}

void
shared_release(struct shared_memory *m)
{
	struct shared_block *b;

	if (m == NULL || --m->sm_refs > 0)
		return;
	while ((b = m->sm_blocks) != NULL) {
		m->sm_blocks = b->sb_next;
		entry_budget_add(1UL << b->sb_order);
		page_free(b->sb_pages, b->sb_order);
		kfree(b);
	}
	if (m->sm_pages > 0)
		page_free_run(m->sm_run, m->sm_pages);
	kfree(m);
}

struct shared_memory *
shared_adopt(void *run, size_t pages)
{
	struct shared_memory *m = kmalloc(sizeof *m);

	if (m != NULL)
		*m = (struct shared_memory){ 1, NULL, run, pages };
	return m;
}

/* Add a zeroed block of at most len bytes.  Returns it, or NULL. */
static struct shared_block *
add_block(struct shared_memory *m, size_t len)
{
	struct shared_block *b = kmalloc(sizeof *b);
	unsigned order = BLOCK_ORDER;

	if (b == NULL)
		return NULL;
	while (PAGE_SIZE << order > len)
		order--;
	while ((b->sb_pages = page_zalloc(order)) == NULL) {
		if (order-- == 0) {
			kfree(b);
			return NULL;
		}
	}
	entry_budget_add(1UL << order);
	b->sb_order = order;
	b->sb_next = m->sm_blocks;
	m->sm_blocks = b;
	return b;
}

/* Fill the range with new blocks, mapped for reading and writing. */
static int
map_blocks(struct as *as, uintptr_t va, size_t len, struct shared_memory *m,
    bool read_only)
{
	size_t at = 0;
	int err = 0;

	while (at < len) {
		struct shared_block *b = add_block(m, len - at);
		size_t bytes = b != NULL ? PAGE_SIZE << b->sb_order : 0;

		if (b == NULL)
			err = ENOMEM;
		else
			err = as_map_shared(as, va + at, va_to_pa(b->sb_pages),
			    bytes, PROT_READ | PROT_WRITE, m, read_only);
		if (err != 0)
			break;
		at += bytes;
	}
	if (err != 0 && at > 0)
		as_unmap(as, va, at);
	return err;
}

int
shared_map(
    struct as *as, uintptr_t va, size_t len, unsigned prot, bool read_only)
{
	struct shared_memory *m;

	/* Check first, so that a hopeless request does not zero much memory. */
	if (len >> PAGE_SHIFT > page_nfree() ||
	    (m = kmalloc(sizeof *m)) == NULL)
		return ENOMEM;
	shared_hold(m);
	int err = map_blocks(as, va, len, m, read_only);
	if (err == 0 && prot != (PROT_READ | PROT_WRITE) &&
	    (err = as_protect(as, va, len, prot)) != 0)
		as_unmap(as, va, len);
	shared_release(m);
	return err;
}

uint64_t
shared_where(struct as *as, uintptr_t va)
{
	const struct region *r = as_find(as, va);

	if (r == NULL || r->r_memory == NULL)
		return 0;
	return pages_where(as, va & -PAGE_SIZE) + va % PAGE_SIZE;
}
