/*
 * Page tables.  All of this also runs before the MMU is on.  So it only uses
 * symbols of the image, which the compiler addresses relative to the PC, and
 * it is compiled with -mstrict-align.
 */
#include "arch/arm64/mm/pt.h"

#include "arch/arm64/sysreg.h"
#include "kern/arch.h"
#include "kern/mm/page.h"

#define EARLY_TABLES 32
#define EARLY        __attribute__((section(".bss.early")))

extern char _start[], __kern_end[];

static uint64_t early_table[EARLY_TABLES][PT_ENTRIES] EARLY
    __attribute__((aligned(4096)));
static struct {
	uint64_t *next;
	unsigned left;
} given EARLY; /* used before early_table */
static unsigned early_used EARLY;
static bool use_allocator EARLY;
uint64_t arm64_kern_pa EARLY;
struct arm64_roots arm64_roots EARLY;

void
arm64_pt_use_allocator(void)
{
	use_allocator = true;
}

void
arm64_pt_give(uint64_t *tables, unsigned n)
{
	given.next = tables;
	given.left = n;
}

unsigned
arm64_pt_left(void)
{
	return given.left + EARLY_TABLES - early_used;
}

uint64_t
arm64_pt_new(void)
{
	uint64_t *t;

	if (!use_allocator && given.left > 0) {
		given.left--;
		t = given.next;
		given.next += PT_ENTRIES;
		return va_to_pa(t);
	}
	if (!use_allocator && early_used < EARLY_TABLES) {
		t = early_table[early_used++];
		return arm64_kern_pa + (uint64_t)((char *)t - _start);
	}
	if ((t = page_zalloc(0)) == NULL)
		return 0;
	page_ntables++;
	return va_to_pa(t);
}

uint64_t *
arm64_pt_va(uint64_t pa)
{
	uint64_t offset = pa - arm64_kern_pa;

	/* The image is mapped before the direct map exists. */
	if (offset < (uint64_t)(__kern_end - _start))
		return (uint64_t *)(_start + offset);
	return pa_to_va(pa);
}

/* The number of address bits below the index of this level, 0 to 3. */
static unsigned
level_shift(unsigned level)
{
	return 39 - 9 * level;
}

static uint64_t *
entry_of(uint64_t table, uintptr_t va, unsigned level)
{
	return arm64_pt_va(table) + (va >> level_shift(level)) % PT_ENTRIES;
}

static bool
is_table(uint64_t entry, unsigned level)
{
	return level < 3 &&
	       (entry & (PT_VALID | PT_TABLE)) == (PT_VALID | PT_TABLE);
}

/* Can one leaf of this level map va to pa? */
static bool
leaf_fits(uintptr_t va, uint64_t pa, size_t len, unsigned level, size_t max)
{
	size_t bytes = 1UL << level_shift(level);

	return level > 0 && bytes <= max && bytes <= len &&
	       ((va | pa) & (bytes - 1)) == 0;
}

/*
 * Free an empty table of a payload, which earlier small pages left, if a large
 * page is to take its place.
 */
static bool
drop_empty_table(uint64_t *e, uintptr_t va, unsigned level)
{
	uint64_t *t = arm64_pt_va(*e & PT_ADDR);

	if (level != 2 || va >= USER_TOP || !use_allocator)
		return false;
	for (unsigned i = 0; i < PT_ENTRIES; i++) {
		if (t[i] != 0)
			return false;
	}
	*e = 0;
	arm64_flush_table(va);
	page_free(t, 0);
	page_ntables--;
	return true;
}

/*
 * Map the start of the range by consecutive free leaves of one table.  Returns
 * the bytes that are mapped now, or 0 if there is no memory for a table.
 */
static size_t
map_run(uint64_t root, uintptr_t va, uint64_t pa, size_t len, uint64_t attr,
    size_t max)
{
	uint64_t table = root;

	for (unsigned level = 0;; level++) {
		uint64_t *e = entry_of(table, va, level);
		size_t bytes = 1UL << level_shift(level), done = 0;
		bool fits = leaf_fits(va, pa, len, level, max);

		if (is_table(*e, level) &&
		    !(fits && drop_empty_table(e, va, level))) {
			table = *e & PT_ADDR;
			continue;
		}
		if ((*e & PT_VALID) != 0)
			return bytes - (va & (bytes - 1)); /* mapped before */
		if (!fits) {
			if ((table = arm64_pt_new()) == 0)
				return 0;
			/* The walker must see a cleared table. */
			dsb(ishst);
			*e = table | PT_TABLE | PT_VALID;
			continue;
		}
		if (level == 3)
			attr |= PT_TABLE;
		do {
			*e++ = (pa + done) | attr | PT_VALID;
			done += bytes;
		} while (len - done >= bytes &&
			 ((uintptr_t)e & (PAGE_SIZE - 1)) != 0 &&
			 (*e & PT_VALID) == 0);
		return done;
	}
}

bool
arm64_pt_map(uint64_t root, uintptr_t va, uint64_t pa, size_t len,
    uint64_t attr, size_t max)
{
	size_t done;

	for (; len > 0; va += done, pa += done, len -= done) {
		if ((done = map_run(root, va, pa, len, attr, max)) == 0)
			return false;
		if (done > len)
			done = len;
	}
	/* From here on the table walker sees the new entries. */
	dsb(ishst);
	isb();
	return true;
}

uint64_t *
arm64_pt_leaf(uint64_t root, uintptr_t va, size_t *bytes)
{
	uint64_t table = root;

	for (unsigned level = 0;; level++) {
		uint64_t *e = entry_of(table, va, level);

		*bytes = 1UL << level_shift(level);
		if (!is_table(*e, level))
			return e;
		table = *e & PT_ADDR;
	}
}
