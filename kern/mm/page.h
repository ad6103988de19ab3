/* The page allocator and kmalloc().  Included by kern/ and arch/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bootinfo;

#define PAGE_MAXORDER 10 /* 4 MiB */

/* Take over the FREE ranges of bi.  Called once, by kern_main(). */
void page_init(struct bootinfo *bi);
/*
 * Allocate 2^order contiguous pages, aligned to their size, with undefined
 * content.  Returns an address in the direct map, or NULL.
 */
void *page_alloc(unsigned order);
/* The same, zeroed. */
void *page_zalloc(unsigned order);
void page_free(void *va, unsigned order);
/*
 * The same for any number of pages.  2 MiB or more are aligned to 2 MiB.  They
 * may be freed as a whole or in parts, by either function.
 */
void *page_alloc_run(size_t pages);
void page_free_run(void *va, size_t pages);
/*
 * From now on fill freed memory with poison, check it when it is allocated
 * again, and give small objects a red zone (checks=poison).  A write to freed
 * memory or past the end of an object panics with its address.
 */
void page_poison_start(void);
extern bool page_poisons;
/* Fill n words with poison.  Return the first of n that is not, or NULL. */
void page_poison(uint64_t *p, size_t n);
const uint64_t *page_poison_damage(const uint64_t *p, size_t n);

size_t page_ntotal(void); /* pages that were free at the start */
size_t page_nfree(void);  /* pages that are free now */

/*
 * The number of pages in use as page tables.  They stay with their address
 * space when its mappings are gone, so a leak check must not count them.
 */
extern size_t page_ntables;

/* kern/debug/test_hooks.c sets this to make allocations fail; else NULL. */
extern bool (*page_alloc_fails)(void);

/* Allocate a zeroed object.  Returns NULL if memory runs out. */
void *kmalloc(size_t bytes);
void kfree(void *p);
char *kmalloc_string(const char *s); /* a copy */
size_t kmalloc_nblocks(void);        /* objects in use */
