/*
 * What an entry to the kernel has worked on, for kernel_limit=
 * (kern/sys/limit.h).  Included by kern/.
 */
#ifndef KERN_PLATFORM_LIMIT_PAGES_H
#define KERN_PLATFORM_LIMIT_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* For each page, if kernel_limit= does not say (docs/measurements.md). */
#define LIMIT_PER_PAGE 2000

/* Bytes printed that take about as long as a page. */
#define LIMIT_PRINTED 32

/* Pages that this entry has worked on so far. */
extern uint64_t limit_pages;

/*
 * Work for n pages has been done: populated, copied, protected, freed.  What
 * takes about as long counts as one, such as a region or LIMIT_PRINTED bytes.
 */
static inline void
limit_add(size_t n)
{
	limit_pages += n;
}

#endif /* KERN_PLATFORM_LIMIT_PAGES_H */
