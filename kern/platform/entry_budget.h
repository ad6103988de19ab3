/*
 * The number of pages that an entry to the kernel works on, for kernel_limit=
 * (kern/debug/debug.h).  Included by kern/.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Instructions for each page, if kernel_limit= gives no other number. */
#define LIMIT_PER_PAGE 2000

/* Printing this many bytes takes about as long as a page. */
#define LIMIT_PRINTED 32

/* Pages that this entry has worked on so far. */
extern uint64_t entry_budget_pages;

/*
 * Count n pages that were populated, copied, protected or freed.  Work that
 * takes about as long counts as a page: a region, or LIMIT_PRINTED bytes.
 */
static inline void
entry_budget_add(size_t n)
{
	entry_budget_pages += n;
}
