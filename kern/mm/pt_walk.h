/*
 * Makes, searches and frees page tables.  Included by mm/pt.c of each machine
 * alone, after it has defined what differs:
 *
 *     pt_va(pa)           the table at a physical address
 *     pt_is_table(e, n)   does an entry of level n point to a table?
 *     pt_leaf_bits(n)     bits that each leaf of level n has
 *     pt_table_bits(va)   bits of an entry that points to a table
 *     pt_link(e, v)       store an entry that another CPU may walk at once
 *     pt_forget(root, va) drop the pointer to a table from all TLBs
 *     pt_sync()           from here on the walker sees the entries
 */
#pragma once

#define TOP 3 /* the root's level; pages are at 0 */

/* The bytes that an entry of this level maps. */
static size_t
level_bytes(unsigned level)
{
	return PAGE_SIZE << 9 * level;
}

static uint64_t *
entry_of(uint64_t table, uintptr_t va, unsigned level)
{
	return pt_va(table & PT_ADDR) +
	       (va >> (PAGE_SHIFT + 9 * level)) % PT_ENTRIES;
}

/* Put a new table below *e.  False: no memory. */
static bool
add_table(uint64_t *e, uintptr_t va)
{
	uint64_t table = PT_FN(new)();

	if (table == 0)
		return false;
	pt_link(e, table | pt_table_bits(va));
	return true;
}

/*
 * Free an empty table of a program that earlier small pages left, if a large
 * page is to take its place.
 */
static bool
drop_empty_table(uint64_t root, uint64_t *e, uintptr_t va, unsigned level)
{
	uint64_t *t = pt_va(*e & PT_ADDR);

	if (level != 1 || va >= USER_TOP)
		return false;
	for (unsigned i = 0; i < PT_ENTRIES; i++) {
		if (t[i] != 0)
			return false;
	}
	*e = 0;
	pt_forget(root, va);
	page_free(t, 0);
	page_ntables--;
	return true;
}

/*
 * Map the start of the range by consecutive free leaves of one table.  Returns
 * the bytes that are mapped now, or 0 without memory.
 */
static size_t
map_run(uint64_t root, uintptr_t va, uint64_t pa, size_t len, uint64_t attr,
    size_t max)
{
	uint64_t table = root;

	for (unsigned level = TOP;; level--) {
		uint64_t *e = entry_of(table, va, level);
		size_t bytes = level_bytes(level), done = 0;
		bool fits = bytes <= max && bytes <= len &&
		            ((va | pa) & (bytes - 1)) == 0;

		if (pt_is_table(*e, level) &&
		    !(fits && drop_empty_table(root, e, va, level))) {
			table = *e;
			continue;
		}
		if ((*e & PT_PRESENT) != 0)
			return bytes - (va & (bytes - 1)); /* mapped before */
		if (!fits) {
			if (!add_table(e, va))
				return 0;
			table = *e;
			continue;
		}
		attr |= pt_leaf_bits(level);
		do {
			*e++ = (pa + done) | attr;
			done += bytes;
		} while (len - done >= bytes && (uintptr_t)e % PAGE_SIZE != 0 &&
			 (*e & PT_PRESENT) == 0);
		return done;
	}
}

size_t
PT_FN(map)(uint64_t root, uintptr_t va, uint64_t pa, size_t len, uint64_t attr,
    size_t max)
{
	size_t done = 0, n;

	for (; done < len; done += n) {
		n = map_run(root, va + done, pa + done, len - done, attr, max);
		if (n == 0)
			break;
	}
	pt_sync();
	return done < len ? done : len;
}

uint64_t *
PT_FN(leaf)(uint64_t root, uintptr_t va, size_t *bytes)
{
	uint64_t table = root;

	for (unsigned level = TOP;; level--) {
		uint64_t *e = entry_of(table, va, level);

		*bytes = level_bytes(level);
		if (!pt_is_table(*e, level))
			return e;
		table = *e;
	}
}

uint64_t
arch_translate(struct as *as, uintptr_t va)
{
	size_t bytes;
	uint64_t e = *PT_FN(leaf)(as->as_root, va, &bytes);

	if ((e & PT_PRESENT) == 0)
		return ~0ULL;
	return (e & PT_ADDR & -bytes) + (va & (bytes - 1));
}

bool
PT_FN(tables)(uint64_t root, uintptr_t va, size_t len)
{
	for (uintptr_t end = va + len; va < end; va += LARGE_SIZE) {
		uint64_t table = root;

		for (unsigned level = TOP; level > 0; level--) {
			uint64_t *e = entry_of(table, va, level);

			if ((*e & PT_PRESENT) == 0 && !add_table(e, va))
				return false;
			table = *e;
		}
	}
	pt_sync();
	return true;
}

static void
free_below(uint64_t table, unsigned level, unsigned entries)
{
	uint64_t *t = pt_va(table & PT_ADDR);

	for (unsigned i = 0; i < entries; i++) {
		if (pt_is_table(t[i], level))
			free_below(t[i], level - 1, PT_ENTRIES);
	}
	page_free(t, 0);
	page_ntables--;
}

void
PT_FN(free)(uint64_t root)
{
	free_below(root, TOP, PT_ROOT_ENTRIES);
}
