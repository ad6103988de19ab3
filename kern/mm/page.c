/*
 * The page allocator, a buddy allocator.  Memory is a few zones, each with one
 * bitmap for each order.  A set bit says that a free block of this order
 * starts at this page.  The links of the free lists are stored in the free
 * blocks.  Blocks of the largest order, 4 MiB, have no list: their bitmap is
 * searched.  So the boot does not touch the memory that it frees, which a
 * hypervisor would then have to give to its guest.
 *
 * A freed block joins its buddies at once.  Keeping eight freed blocks of each
 * small order made create+join 3 % cheaper, which did not pay for its code.
 */
#include "kern/mm/page.h"

#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/lock.h"
#include "lib/printf.h"
#include "lib/string.h"

#define NORDER (PAGE_MAXORDER + 1)
#define NZONE  16
/* Closer ranges share a zone.  Bitmaps cost 1/16384 of the gap between. */
#define ZONE_GAP  (1ULL << 30)
#define MAX_BLOCK ((uint64_t)PAGE_SIZE << PAGE_MAXORDER)

struct zone {
	uint64_t z_pfn; /* first page frame, a multiple of the largest block */
	uint64_t z_pages, *z_free[NORDER];
};

struct block {
	struct block *b_next;
	struct block **b_link; /* the pointer to this block */
};

static struct {
	struct spinlock lock;
	struct zone zone[NZONE];
	unsigned nzone;
	struct block *list[PAGE_MAXORDER];
	size_t nfree, ntotal;
} mem;

size_t page_ntables;
bool (*page_alloc_fails)(void);

static bool
alloc_fails(void)
{
	return page_alloc_fails != NULL && page_alloc_fails();
}

/*
 * Layout of a poisoned page: two words for the links of the free lists, a mark,
 * then poison.  A page without the mark was never freed since the start.
 */
#define POISON     0xdeadf4eedeadf4eeULL
#define POISONED   0x504f49534f4e4544ULL /* the mark: XOR with the address */
#define MARK       2
#define PAGE_WORDS (PAGE_SIZE / 8)

bool page_poisons;

void
page_poison_start(void)
{
	page_poisons = true;
}

void
page_poison(uint64_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = POISON;
}

const uint64_t *
page_poison_damage(const uint64_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != POISON)
			return &p[i];
	}
	return NULL;
}

static void
poison_freed(void *va, size_t pages)
{
	if (!page_poisons)
		return;
	for (uint64_t *p = va; pages > 0; p += PAGE_WORDS, pages--) {
		p[MARK] = POISONED ^ (uintptr_t)p;
		page_poison(p + MARK + 1, PAGE_WORDS - MARK - 1);
	}
}

static void
check_allocated(void *va, size_t pages)
{
	const uint64_t *at;

	if (!page_poisons || va == NULL)
		return;
	for (uint64_t *p = va; pages > 0; p += PAGE_WORDS, pages--) {
		if (p[MARK] != (POISONED ^ (uintptr_t)p))
			continue;
		p[MARK] = 0;
		at = page_poison_damage(p + MARK + 1, PAGE_WORDS - MARK - 1);
		if (at != NULL)
			panic("mem: page %p was written after it was freed: "
			      "at +%#lx is %#lx",
			    (void *)p, (unsigned long)(at - p) * 8,
			    (unsigned long)*at);
	}
}

static struct zone *
zone_of(uint64_t pfn)
{
	for (unsigned i = 0; i < mem.nzone; i++) {
		struct zone *z = &mem.zone[i];

		if (pfn - z->z_pfn < z->z_pages)
			return z;
	}
	return NULL;
}

static bool
is_free(const struct zone *z, uint64_t pfn, unsigned order)
{
	uint64_t n = (pfn - z->z_pfn) >> order;

	return z->z_free[order][n / 64] >> n % 64 & 1;
}

static void
flip_bit(struct zone *z, uint64_t pfn, unsigned order)
{
	uint64_t n = (pfn - z->z_pfn) >> order;

	z->z_free[order][n / 64] ^= 1ULL << n % 64;
}

static void
list_add(struct zone *z, uint64_t pfn, unsigned order)
{
	struct block *b = pa_to_va(pfn << PAGE_SHIFT);
	struct block **head = &mem.list[order];

	flip_bit(z, pfn, order);
	if (order == PAGE_MAXORDER)
		return;
	b->b_next = *head;
	b->b_link = head;
	if (b->b_next != NULL)
		b->b_next->b_link = &b->b_next;
	*head = b;
}

static void
list_remove(struct zone *z, uint64_t pfn, unsigned order)
{
	struct block *b = pa_to_va(pfn << PAGE_SHIFT);

	*b->b_link = b->b_next;
	if (b->b_next != NULL)
		b->b_next->b_link = b->b_link;
	flip_bit(z, pfn, order);
}

/* Add [pfn, end) to the lists, in the largest blocks that are aligned. */
static void
add_range(struct zone *z, uint64_t pfn, uint64_t end)
{
	mem.nfree += end - pfn;
	while (pfn < end) {
		unsigned order = PAGE_MAXORDER;

		while ((pfn & ((1ULL << order) - 1)) != 0 ||
		       end - pfn < 1ULL << order)
			order--;
		list_add(z, pfn, order);
		pfn += 1ULL << order;
	}
}

/* Allocate the bitmaps of a zone from the boot map. */
static bool
zone_bitmaps(struct zone *z, struct bootinfo *bi)
{
	uint64_t words = 0, *p;

	for (unsigned o = 0; o < NORDER; o++)
		words += (z->z_pages >> o) / 64 + 1;
	uint64_t pa = bootinfo_take(bi, words * 8, PAGE_SIZE, 0, ~0ULL);
	if (pa == 0)
		return false;
	p = pa_to_va(pa);
	memset(p, 0, words * 8);
	for (unsigned o = 0; o < NORDER; o++) {
		z->z_free[o] = p;
		p += (z->z_pages >> o) / 64 + 1;
	}
	return true;
}

/* Group the FREE ranges into zones.  Most machines have one or two. */
static void
find_zones(const struct bootinfo *bi)
{
	uint64_t end = 0; /* of the last zone */

	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];
		struct zone *z = &mem.zone[mem.nzone];

		if (m->bm_type != BOOTMEM_FREE)
			continue;
		if (mem.nzone > 0 &&
		    (m->bm_base < end + ZONE_GAP || mem.nzone == NZONE)) {
			z--; /* grow the last one */
		} else {
			z->z_pfn = (m->bm_base & -MAX_BLOCK) >> PAGE_SHIFT;
			mem.nzone++;
		}
		end = (m->bm_base + m->bm_len + MAX_BLOCK - 1) & -MAX_BLOCK;
		z->z_pages = (end >> PAGE_SHIFT) - z->z_pfn;
	}
}

void
page_init(struct bootinfo *bi)
{
	find_zones(bi);
	for (unsigned i = 0; i < mem.nzone; i++) {
		if (!zone_bitmaps(&mem.zone[i], bi))
			panic("mem: no room for the page allocator's maps");
	}
	for (uint32_t i = 0; i < bi->bi_nmem; i++) {
		const struct bootmem *m = &bi->bi_mem[i];
		uint64_t pfn = m->bm_base >> PAGE_SHIFT;

		/* Leave out page 0: a physical address of 0 means failure. */
		if (m->bm_type == BOOTMEM_FREE)
			add_range(zone_of(pfn), pfn == 0 ? 1 : pfn,
			    (m->bm_base + m->bm_len) >> PAGE_SHIFT);
	}
	mem.ntotal = mem.nfree;
	if (mem.nfree == 0)
		panic("mem: no free memory in the firmware's map");
	printf("mem: %zu MiB free of %u range(s)\n", mem.nfree >> 8,
	    (unsigned)bi->bi_nmem);
}

/* Take the highest block of the largest order: its page frame, or 0. */
static uint64_t
take_largest(void)
{
	for (unsigned i = mem.nzone; i-- > 0;) {
		struct zone *z = &mem.zone[i];
		uint64_t w = (z->z_pages >> PAGE_MAXORDER) / 64 + 1;

		while (w-- > 0) {
			uint64_t *bits = &z->z_free[PAGE_MAXORDER][w];
			unsigned n = 63 - (unsigned)__builtin_clzll(*bits | 1);

			if (*bits == 0)
				continue;
			*bits ^= 1ULL << n;
			return z->z_pfn + ((w * 64 + n) << PAGE_MAXORDER);
		}
	}
	return 0;
}

/* Take a block of this order.  Returns NULL on failure. */
static void *
take_listed(unsigned order)
{
	unsigned o = order;
	struct zone *z;
	uint64_t pfn;

	while (o < PAGE_MAXORDER && mem.list[o] == NULL)
		o++;
	if (o < PAGE_MAXORDER) {
		pfn = va_to_pa(mem.list[o]) >> PAGE_SHIFT;
		z = zone_of(pfn);
		list_remove(z, pfn, o);
	} else {
		if ((pfn = take_largest()) == 0)
			return NULL;
		z = zone_of(pfn);
	}
	while (o-- > order) /* keep the lower half */
		list_add(z, pfn + (1ULL << o), o);
	mem.nfree -= 1UL << order;
	return pa_to_va(pfn << PAGE_SHIFT);
}

static void
give_listed(uint64_t pfn, unsigned order)
{
	struct zone *z = zone_of(pfn);

	ASSERT(order < NORDER && z != NULL);
	ASSERT((pfn & ((1ULL << order) - 1)) == 0 && !is_free(z, pfn, order));
	mem.nfree += 1UL << order;
	for (; order < PAGE_MAXORDER; order++) {
		uint64_t buddy = pfn ^ 1ULL << order;

		if (!is_free(z, buddy, order))
			break;
		list_remove(z, buddy, order);
		pfn &= ~(1ULL << order);
	}
	list_add(z, pfn, order);
}

void *
page_alloc(unsigned order)
{
	if (alloc_fails())
		return NULL;
	lock_acquire(&mem.lock);
	void *va = take_listed(order);
	lock_release(&mem.lock);
	check_allocated(va, 1UL << order);
	return va;
}

void *
page_zalloc(unsigned order)
{
	void *va = page_alloc(order);

	if (va != NULL)
		arch_page_zero(va, PAGE_SIZE << order);
	return va;
}

void
page_free(void *va, unsigned order)
{
	poison_freed(va, 1UL << order);
	lock_acquire(&mem.lock);
	give_listed(va_to_pa(va) >> PAGE_SHIFT, order);
	lock_release(&mem.lock);
}

/* Find n adjacent free blocks of the largest order: the first frame, or 0. */
static uint64_t
find_run(const struct zone *z, uint64_t n)
{
	uint64_t found = 0, block = 1ULL << PAGE_MAXORDER;
	uint64_t end = z->z_pfn + z->z_pages;

	for (uint64_t pfn = z->z_pfn; pfn < end; pfn += block) {
		found = is_free(z, pfn, PAGE_MAXORDER) ? found + 1 : 0;
		if (found == n)
			return pfn - (n - 1) * block;
	}
	return 0;
}

/* Take a run that is longer than the largest block.  Returns NULL or it. */
static void *
take_run(uint64_t nblocks)
{
	for (unsigned i = 0; i < mem.nzone; i++) {
		struct zone *z = &mem.zone[i];
		uint64_t pfn = find_run(z, nblocks);

		if (pfn == 0)
			continue;
		for (uint64_t n = 0; n < nblocks; n++)
			flip_bit(z, pfn + (n << PAGE_MAXORDER), PAGE_MAXORDER);
		mem.nfree -= nblocks << PAGE_MAXORDER;
		return pa_to_va(pfn << PAGE_SHIFT);
	}
	return NULL;
}

void *
page_alloc_run(size_t pages)
{
	size_t got;
	char *va;

	if (alloc_fails())
		return NULL;
	lock_acquire(&mem.lock);
	if (pages <= 1UL << PAGE_MAXORDER) {
		unsigned order = 0;

		while (1UL << order < pages)
			order++;
		got = 1UL << order;
		va = take_listed(order);
	} else {
		uint64_t n = (pages - 1) / (1UL << PAGE_MAXORDER) + 1;

		got = n << PAGE_MAXORDER;
		va = take_run(n);
	}
	lock_release(&mem.lock);
	check_allocated(va, got);
	if (va != NULL)
		page_free_run(va + pages * PAGE_SIZE, got - pages);
	return va;
}

void
page_free_run(void *va, size_t pages)
{
	uint64_t pfn = va_to_pa(va) >> PAGE_SHIFT;

	poison_freed(va, pages);
	lock_acquire(&mem.lock);
	while (pages > 0) {
		unsigned order = PAGE_MAXORDER;

		while (
		    (pfn & ((1ULL << order) - 1)) != 0 || pages < 1UL << order)
			order--;
		give_listed(pfn, order);
		pfn += 1ULL << order;
		pages -= 1UL << order;
	}
	lock_release(&mem.lock);
}

size_t
page_ntotal(void)
{
	return mem.ntotal;
}

size_t
page_nfree(void)
{
	return mem.nfree;
}
