/*
 * The copy of an address space that fork(2) makes.  All writable pages are
 * copied at once, so that no page fault disturbs a count later.
 */
#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/mm/populate.h"

static void
copy_pages(struct as *to, const struct as *from, uintptr_t va, uintptr_t end)
{
	for (; va < end; va += PAGE_SIZE) {
		uint64_t pa = pages_where(from, va);

		if (pa != ~0ULL)
			as_write(to, va, pa_to_va(pa), PAGE_SIZE);
	}
}

/* Map the same pages, one by one: as_move() may have changed their order. */
static int
share_pages(struct as *to, const struct as *from, const struct region *r,
    uintptr_t va, uintptr_t end)
{
	unsigned prot =
	    r->r_memory != NULL && r->r_prot != 0 ? r->r_prot : PROT_READ;
	uintptr_t at = va;
	int err = 0;

	for (; at < end && err == 0; at += PAGE_SIZE)
		err = as_map_shared(to, at, pages_where(from, at), PAGE_SIZE,
		    prot, r->r_memory, r->r_read_only);
	return err != 0 || prot == r->r_prot
	           ? err
	           : as_protect(to, va, end - va, r->r_prot);
}

static int
note_file(struct as *to, const struct region *r, uintptr_t va, uintptr_t end)
{
	return as_note_file(to, va, end - va, r->r_file, r->r_file_bytes,
	    r->r_offset + (va - r->r_start), r->r_read_only);
}

/* Copy the part [va, end) of region r. */
static int
copy_range(struct as *to, const struct as *from, const struct region *r,
    uintptr_t va, uintptr_t end)
{
	unsigned prot = r->r_prot;
	int err;

	if (va >= end || r->r_fork == FORK_NONE)
		return 0;
	if (r->r_shared)
		return share_pages(to, from, r, va, end);
	if (!r->r_pages) {
		err = as_map(to, va, end - va, 0, r->r_contig);
		return err != 0 ? err : note_file(to, r, va, end);
	}
	/* Pages without access keep their content, so copy it too. */
	err =
	    as_map(to, va, end - va, prot != 0 ? prot : PROT_READ, r->r_contig);
	if (err != 0 || (err = note_file(to, r, va, end)) != 0)
		return err;
	if (r->r_fork == FORK_COPY)
		copy_pages(to, from, va, end);
	else if ((err = as_mark(to, va, end - va, r->r_fork)) != 0)
		return err;
	if (prot & PROT_EXEC)
		as_sync_code(to, va, end - va);
	return prot != 0 ? 0 : as_protect(to, va, end - va, 0);
}

int
as_copy(struct as *to, const struct as *from, uintptr_t hole, size_t hole_len)
{
	uintptr_t hole_end = hole + hole_len;
	int err = 0;

	for (struct region *r = from->as_regions.rt_first;
	     r != NULL && err == 0; r = r->r_next) {
		if (hole < r->r_start || hole_end > r->r_end) {
			err = copy_range(to, from, r, r->r_start, r->r_end);
			continue;
		}
		err = copy_range(to, from, r, r->r_start, hole);
		if (err == 0)
			err = as_map(to, hole, hole_len, 0, false);
		if (err == 0)
			err = copy_range(to, from, r, hole_end, r->r_end);
	}
	to->as_brk_base = from->as_brk_base;
	to->as_brk = from->as_brk;
	return err;
}
