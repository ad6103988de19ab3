/*
 * Page tables as the hardware walks them: four levels, from the root, 3, to
 * pages, 0.  Included by mm/pt.h of each machine, which gives the functions
 * their prefix by PT_FN(), and defines the entries.  Its mm/pt.c defines the
 * functions by kern/mm/pt_walk.h.
 */
#pragma once

#define PT_ENTRIES 512

/* Allocate a cleared table.  Returns its physical address, or 0. */
uint64_t PT_FN(new)(void);

/*
 * Map [va, va + len) to physical memory from pa on.  All are multiples of a
 * page.  Leaves are as large as `max` bytes and alignment allow.  Mappings that
 * exist stay as they are.  Returns the bytes mapped: len, or fewer without
 * memory.
 */
size_t PT_FN(map)(uint64_t root, uintptr_t va, uint64_t pa, size_t len,
    uint64_t attr, size_t max);

/*
 * The entry that maps va, and the bytes that it covers.  If nothing maps va,
 * the entry is not present.
 */
uint64_t *PT_FN(leaf)(uint64_t root, uintptr_t va, size_t *bytes);

/*
 * The entry after e, for the next page, which has `bytes` bytes.  NULL if it is
 * in another table, or the pages are not of 4 KiB.
 */
static inline uint64_t *
PT_FN(next)(uint64_t *e, size_t bytes)
{
	const size_t page = PT_ENTRIES * sizeof *e; /* a table fills a page */

	e++;
	return bytes == page && (uintptr_t)e % page != 0 ? e : NULL;
}

/* Make all tables for the range.  Returns false without memory. */
bool PT_FN(tables)(uint64_t root, uintptr_t va, size_t len);

/* Free the root of an address space and its tables. */
void PT_FN(free)(uint64_t root);
