/*
 * Page tables of four levels: make, search, split and free them.
 *
 * Intel SDM vol. 3A, "4-Level Paging and 5-Level Paging".
 */
#include "arch/x86/mm/pt.h"

#include "arch/x86/insn.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"
#include "lib/string.h"

#define CHUNK 8 /* tables taken from the boot map at once */
#define TOP   3 /* the root's level; pages are at 0 */

uint64_t x86_nx;
uint64_t x86_root;

static struct {
	struct bootinfo *bi;
	uint64_t next;
	unsigned left;
} early;

void
x86_pt_begin_early(struct bootinfo *bi)
{
	early.bi = bi;
}

void
x86_pt_end_early(void)
{
	early.bi = NULL;
}

static uint64_t
new_early(void)
{
	uint64_t pa;

	if (early.left == 0) {
		early.next = bootinfo_take(
		    early.bi, CHUNK * PAGE_SIZE, PAGE_SIZE, 0, 1ULL << 32);
		if (early.next == 0)
			panic("mem: no room below 4 GiB for page tables: give "
			      "the machine more memory");
		early.left = CHUNK;
	}
	pa = early.next;
	early.next += PAGE_SIZE;
	early.left--;
	memset(pa_to_va(pa), 0, PAGE_SIZE);
	return pa;
}

uint64_t
x86_pt_new(void)
{
	void *t;

	if (early.bi != NULL)
		return new_early();
	if ((t = page_zalloc(0)) == NULL)
		return 0;
	page_ntables++;
	return va_to_pa(t);
}

/* The bytes that an entry of this level maps. */
static size_t
level_bytes(unsigned level)
{
	return PAGE_SIZE << 9 * level;
}

static uint64_t *
entry_of(uint64_t table, uintptr_t va, unsigned level)
{
	uint64_t *t = pa_to_va(table & PT_ADDR);

	return t + (va >> (PAGE_SHIFT + 9 * level)) % PT_ENTRIES;
}

static bool
is_table(uint64_t entry, unsigned level)
{
	return level > 0 && (entry & (PT_P | PT_PS)) == PT_P;
}

static bool
is_empty(uint64_t table)
{
	const uint64_t *t = pa_to_va(table & PT_ADDR);

	for (unsigned i = 0; i < PT_ENTRIES; i++)
		if (t[i] != 0)
			return false;
	return true;
}

/*
 * Make *e point to a table.  Another CPU may walk it at once, so its contents
 * are stored before.  Only the leaves restrict rights.
 */
static void
link_table(uint64_t *e, uint64_t table, uintptr_t va)
{
	table |= PT_P | PT_W | PT_A | (va < USER_TOP ? PT_U : 0);
	__atomic_store_n(e, table, __ATOMIC_RELEASE);
}

/* Put a new table below *e.  False: no memory. */
static bool
add_table(uint64_t *e, uintptr_t va)
{
	uint64_t table = x86_pt_new();

	if (table == 0)
		return false;
	link_table(e, table, va);
	return true;
}

/* May one leaf of this level map va to pa? */
static bool
leaf_fits(uintptr_t va, uint64_t pa, size_t len, unsigned level, size_t max)
{
	size_t bytes = level_bytes(level);

	return bytes <= max && bytes <= len && ((va | pa) & (bytes - 1)) == 0;
}

/*
 * Free an empty table that earlier small pages left, if a large page is to take
 * its place.  Any CPU may still have the pointer to the table cached.
 * Intel SDM vol. 3A, "Caching Translation Information" (paging-structure
 * caches), "Recommended Invalidation".
 */
static bool
drop_empty_table(uint64_t root, uint64_t *e, uintptr_t va, unsigned level)
{
	uint64_t table = *e & PT_ADDR;

	if (level != 1 || va >= USER_TOP || !is_empty(table))
		return false;
	*e = 0;
	x86_flush_others(root);
	invlpg(va);
	page_free(pa_to_va(table), 0);
	page_ntables--;
	return true;
}

/*
 * Fill entries from e on with leaves, to the end of the range, the end of the
 * table or an entry in use.  Returns the bytes mapped.
 */
static size_t
fill_leaves(uint64_t *e, uint64_t leaf, size_t bytes, size_t len)
{
	size_t done = 0;

	ASSERT((*e & PT_P) == 0);
	do {
		*e++ = leaf + done;
		done += bytes;
	} while (len - done >= bytes && (uintptr_t)e % PAGE_SIZE != 0 &&
		 (*e & PT_P) == 0);
	return done;
}

/*
 * Map the start of the range by leaves of one table.  Returns the bytes mapped,
 * or 0 without memory.
 */
static size_t
map_run(uint64_t root, uintptr_t va, uint64_t pa, size_t len, uint64_t attr,
    size_t max)
{
	uint64_t table = root;

	for (unsigned level = TOP;; level--) {
		uint64_t *e = entry_of(table, va, level);
		bool fits = leaf_fits(va, pa, len, level, max);

		if (is_table(*e, level) &&
		    !(fits && drop_empty_table(root, e, va, level))) {
			table = *e;
		} else if (fits) {
			return fill_leaves(e,
			    pa | attr | (level > 0 ? PT_PS : 0),
			    level_bytes(level), len);
		} else {
			ASSERT((*e & PT_P) == 0);
			if (!add_table(e, va))
				return 0;
			table = *e;
		}
	}
}

size_t
x86_pt_map(uint64_t root, uintptr_t va, uint64_t pa, size_t len, uint64_t attr,
    size_t max)
{
	size_t done = 0, n;

	for (; done < len; done += n) {
		n = map_run(root, va + done, pa + done, len - done, attr, max);
		if (n == 0)
			break;
	}
	return done;
}

uint64_t *
x86_pt_leaf(uint64_t root, uintptr_t va, size_t *bytes)
{
	uint64_t table = root;

	for (unsigned level = TOP;; level--) {
		uint64_t *e = entry_of(table, va, level);

		*bytes = level_bytes(level);
		if (!is_table(*e, level))
			return e;
		table = *e;
	}
}

bool
x86_pt_split(uint64_t root, uintptr_t va)
{
	size_t bytes;
	uint64_t *e = x86_pt_leaf(root, va, &bytes), leaf = *e, table, *t;

	ASSERT(bytes == LARGE_SIZE && (leaf & PT_P) != 0);
	if ((table = x86_pt_new()) == 0)
		return false;
	t = pa_to_va(table);
	for (unsigned i = 0; i < PT_ENTRIES; i++)
		t[i] = (leaf & ~PT_PS) + i * PAGE_SIZE;
	link_table(e, table, va);
	return true;
}

bool
x86_pt_tables(uint64_t root, uintptr_t va, size_t len)
{
	for (uintptr_t end = va + len; va < end; va += LARGE_SIZE) {
		uint64_t table = root;

		for (unsigned level = TOP; level > 0; level--) {
			uint64_t *e = entry_of(table, va, level);

			if ((*e & PT_P) == 0 && !add_table(e, va))
				return false;
			table = *e;
		}
	}
	return true;
}

static void
free_below(uint64_t table, unsigned level, unsigned entries)
{
	uint64_t *t = pa_to_va(table & PT_ADDR);

	for (unsigned i = 0; i < entries; i++)
		if (is_table(t[i], level))
			free_below(t[i], level - 1, PT_ENTRIES);
	page_free(t, 0);
	page_ntables--;
}

void
x86_pt_free(uint64_t root)
{
	free_below(root, TOP, PT_ENTRIES / 2);
}
