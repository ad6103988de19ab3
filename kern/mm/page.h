/*
 * The page allocator.  Included by kern/ and arch/.
 */
#ifndef KERN_MM_PAGE_H
#define KERN_MM_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bootinfo;

#define PAGE_MAXORDER 10 /* 4 MiB */

/* Take over the FREE ranges of the map.  Called once, by kern_main(). */
void page_init(struct bootinfo *bi);
/*
 * 2^order pages, physically contiguous, aligned to their size, content
 * undefined.  Returns an address in the direct map, or NULL.
 */
void *page_alloc(unsigned order);
/* The same, zeroed. */
void *page_zalloc(unsigned order);
void page_free(void *va, unsigned order);
/*
 * The same for any number of pages, aligned to 2 MiB where it is that long;
 * freed whole or in parts, by page_free() or here.
 */
void *page_alloc_run(size_t pages);
void page_free_run(void *va, size_t pages);
/*
 * From now on what is freed is poisoned, and looked at when it is allocated
 * again; small objects have a red zone (checks=poison).  A write to freed
 * memory, or past an object's end, is a panic that names it.
 */
void page_poison_start(void);
extern bool page_poisons;
/* Fill n words with the poison; the first of them that is not, or NULL. */
void page_poison(uint64_t *p, size_t n);
const uint64_t *page_poison_damage(const uint64_t *p, size_t n);

size_t page_ntotal(void); /* pages there were at the start */
size_t page_nfree(void);  /* pages free now: a leak check is an equality */

/*
 * Of the pages in use, those that hold page tables.  They stay with their
 * address space when what they mapped has gone.
 */
extern size_t page_ntables;

/*
 * Test hooks (kern/sys/test_hooks.c) decide here whether an allocation fails;
 * NULL otherwise.
 */
extern bool (*page_alloc_fails)(void);

/* Small objects, zeroed; NULL where memory is out.  kfree(NULL) is nothing. */
void *kmalloc(size_t bytes);
void kfree(void *p);
size_t kmalloc_nblocks(void); /* that are not freed yet */

#endif /* KERN_MM_PAGE_H */
