/*
 * Page tables of the hardware.  Included by arch/x86/.
 */
#ifndef ARCH_X86_MM_PT_H
#define ARCH_X86_MM_PT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bootinfo;

/*
 * Entries of four-level paging.
 * Intel SDM vol. 3A, "4-Level Paging and 5-Level Paging".
 */
#define PT_P       (1ULL << 0)
#define PT_W       (1ULL << 1)
#define PT_U       (1ULL << 2)
#define PT_PWT     (1ULL << 3)
#define PT_PCD     (1ULL << 4)
#define PT_A       (1ULL << 5)
#define PT_D       (1ULL << 6)
#define PT_PS      (1ULL << 7) /* a leaf above level 0 */
#define PT_G       (1ULL << 8)
#define PT_NX      (1ULL << 63)
#define PT_ADDR    0x000ffffffffff000ULL
#define PT_ENTRIES 512

/*
 * Leaves.  Their accessed and dirty bits are set from the start.  Otherwise the
 * processor would set them in the middle of a measurement.
 */
#define PT_LEAF    (PT_P | PT_A | PT_D)
#define PT_KERN_RX (PT_LEAF | PT_G)
#define PT_KERN_R  (PT_LEAF | PT_G | x86_nx)
#define PT_KERN_RW (PT_LEAF | PT_G | PT_W | x86_nx)
/* Entries 3 and 1 of the PAT (PAT_ENTRIES): UC and write-combining. */
#define PT_DEVICE (PT_KERN_RW | PT_PCD | PT_PWT)
#define PT_SCREEN (PT_KERN_RW | PT_PWT)

extern uint64_t x86_nx;   /* PT_NX, or 0 if the CPU lacks it */
extern uint64_t x86_root; /* the kernel's root, physical, below 4 GiB */

/*
 * Until x86_pt_end_early(), tables come from the memory map of the boot, below
 * 4 GiB.  After it, they come from the page allocator.
 */
void x86_pt_begin_early(struct bootinfo *bi);
void x86_pt_end_early(void);

/* Returns the physical address of a cleared table, or 0 without memory. */
uint64_t x86_pt_new(void);

/*
 * Map [va, va + len), which has no mapping yet, to physical memory from pa on.
 * All three are multiples of a page.  Uses the largest leaves that alignment
 * and `max` bytes allow.  Returns the bytes mapped: len, or fewer without
 * memory.
 */
size_t x86_pt_map(uint64_t root, uintptr_t va, uint64_t pa, size_t len,
    uint64_t attr, size_t max);

/*
 * The entry that maps va, and the bytes that it covers.  If nothing maps va,
 * the entry lacks PT_P.
 */
uint64_t *x86_pt_leaf(uint64_t root, uintptr_t va, size_t *bytes);

/*
 * The entry after e, for the next page, which has `bytes` bytes.  NULL if it is
 * in another table, or the pages are not of 4 KiB.
 */
static inline uint64_t *
x86_pt_next(uint64_t *e, size_t bytes)
{
	const size_t page = PT_ENTRIES * sizeof *e; /* a table fills a page */

	e++;
	return bytes == page && (uintptr_t)e % page != 0 ? e : NULL;
}

/* Replace the large leaf at va by a table of small ones.  False: no memory. */
bool x86_pt_split(uint64_t root, uintptr_t va);

/* Make all tables for the range, down to the level of small pages. */
bool x86_pt_tables(uint64_t root, uintptr_t va, size_t len);

/* Free the root and the tables of the lower half. */
void x86_pt_free(uint64_t root);

#endif /* ARCH_X86_MM_PT_H */
