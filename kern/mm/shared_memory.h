/*
 * Memory that processes share: mmap(2) with MAP_SHARED, of no file or of one
 * in /tmp.  Included by kern/.
 *
 * Each region that maps a part of it holds a reference.  Unmapping a part frees
 * nothing; the last reference frees all, as on Linux.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as;

struct shared_memory {
	unsigned sm_refs;
	struct shared_block *sm_blocks;
	/* Or pages of page_alloc_run(). */
	void *sm_run;
	size_t sm_pages;
};

/*
 * Map new, zeroed memory at the free range [va, va + len).  read_only and the
 * result are as those of as_map_shared().
 */
int shared_map(
    struct as *as, uintptr_t va, size_t len, unsigned prot, bool read_only);
/* Pages of page_alloc_run() as such memory, with one reference, or NULL. */
struct shared_memory *shared_adopt(void *run, size_t pages);
/* The physical address of va, or 0 if va is not in such memory. */
uint64_t shared_where(struct as *as, uintptr_t va);
/* Add a reference, and drop one.  NULL has none.  shared_hold() returns m. */
struct shared_memory *shared_hold(struct shared_memory *m);
void shared_release(struct shared_memory *m);
